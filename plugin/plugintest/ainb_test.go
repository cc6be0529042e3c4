package plugintest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/sampling"
	"github.com/bentobuild/bento/internal/testrun"
	"github.com/bentobuild/bento/plugin/ainb/manifest"
	"github.com/bentobuild/bento/plugin/extension"
	"github.com/bentobuild/bento/plugin/wire"
)

// serveAinb runs an ainb extension: on the SDK, or by hand with the fault of its name.
func serveAinb(name string) {
	if name == "ainb-sdk" {
		extension.Main(sdkExtension{})
		return
	}
	k := &ainbKid{name: name, conn: wire.NewConn(os.Stdin, os.Stdout, wire.Limits{})}
	for k.next() {
	}
	if name == "ainb-exits-badly" {
		syscall.Exit(3)
	}
	for name == "ainb-stays" {
		time.Sleep(time.Hour)
	}
	syscall.Exit(0)
}

// sdkExtension is the extension of the SDK's page, with every optional method.
type sdkExtension struct{}

func (sdkExtension) Info() extension.Info {
	return extension.Info{Name: "ainb-sdk", ID: "acme.sdk", Version: "1.0.0"}
}

func (sdkExtension) Event(ctx context.Context, c *extension.Client, e extension.Event) error {
	return c.Publish(ctx, "kid.state", []byte(e.Topic))
}

func (sdkExtension) Start(ctx context.Context, c *extension.Client) error {
	return c.Log(ctx, "info", "started")
}

func (sdkExtension) Command(_ context.Context, _ *extension.Client, command extension.Command) (extension.Output, error) {
	return extension.Output{Stdout: []byte(strings.Join(command.Args, " "))}, nil
}

func (sdkExtension) Render(_ context.Context, _ *extension.Client, b *extension.Buffer) error {
	b.Text(0, 0, "builds", extension.Style{})
	return nil
}

// ainbKid is an extension that does not use the SDK.
type ainbKid struct {
	name string
	conn *wire.Conn
}

func (k *ainbKid) is(name string) bool { return k.name == "ainb-"+name }

func (k *ainbKid) send(format string, args ...any) {
	_ = k.conn.Send(fmt.Appendf(nil, format, args...))
}

// next handles one message, and reports whether more may follow.
func (k *ainbKid) next() bool {
	body, err := k.conn.Recv()
	if err != nil {
		return false
	}
	m, _ := wire.ParseMessage(body, 64)
	result := ""
	switch m.Method {
	case "plugin/init":
		return k.init(&m)
	case "plugin/shutdown":
		k.send(`{"jsonrpc":"2.0","id":%s,"result":{}}`, cmpOr(m.ID, "0"))
		return false
	case "plugin/handle_event":
		if k.is("dies-of-events") {
			return false
		}
		if !k.is("publishes-nothing") {
			k.send(`{"jsonrpc":"2.0","method":"host/snapshot/publish","params":{"topic":"kid.state","payload":"aGk="}}`)
		}
	case "plugin/render":
		x := 0
		if k.is("draws-outside") {
			x = 7
		}
		result = fmt.Sprintf(`{"buffer":{"width":5,"height":1,"cells":[[{"x":%d,"y":0},{"symbol":"%d"}]]}}`, x, k.symbol())
	case "plugin/cli_dispatch":
		if result = `{"stdout":"","stderr":"","exit_code":0}`; k.is("has-no-status") {
			result = `{"stdout":"","stderr":""}`
		}
	default:
		if k.is("knows-everything") {
			result = "{}"
		}
	}
	switch {
	case m.Kind != wire.Request:
	case result != "":
		k.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	default:
		k.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`, m.ID)
	}
	return true
}

func (k *ainbKid) symbol() int {
	if k.is("is-restless") {
		return rand.IntN(1000) + 1000
	}
	return 1
}

func cmpOr(raw json.RawMessage, otherwise string) string {
	if raw == nil {
		return otherwise
	}
	return string(raw)
}

func (k *ainbKid) init(m *wire.Message) bool {
	name := k.name
	if k.is("has-another-name") {
		name = "ainb-other"
	}
	switch {
	case k.is("is-silent"):
		time.Sleep(time.Hour)
	case k.is("prints"):
		os.Stdout.WriteString("ready\n")
	case k.is("shouts"):
		k.send(`{"jsonrpc":"2.0","method":"host/log","params":{"level":"SHOUT","message":"x"}}`)
	case k.is("is-relative"):
		k.send(`{"jsonrpc":"2.0","id":1,"method":"host/fs/read_file","params":{"path":"x"}}`)
	case k.is("dies-denied"):
		k.send(`{"jsonrpc":"2.0","id":1,"method":"host/fs/read_file","params":{"path":"/x"}}`)
		_, _ = k.conn.Recv()
		return false
	case k.is("sends-a-batch"):
		k.send("[]")
	}
	if !strings.Contains(string(m.Params), `"abi_version":2`) && !k.is("takes-any-revision") {
		k.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32003,"message":"revision 2 required"}}`, m.ID)
		return true
	}
	abi := 2
	if k.is("has-another-abi") {
		abi = 3
	}
	if k.is("follows-the-document") || abi == 3 {
		k.send(`{"jsonrpc":"2.0","id":%s,"result":{"manifest":{"plugin":{"name":%q,"version":"1.0.0","abi_version":2}},"abi_version":%d}}`, m.ID, name, abi)
		return true
	}
	k.send(`{"jsonrpc":"2.0","id":%s,"result":{"name":%q,"version":"1.0.0"}}`, m.ID, name)
	return true
}

// installAinb makes the test binary an extension in dir.
func installAinb(t *testing.T, dir, name, more string) string {
	t.Helper()
	at := filepath.Join(dir, name)
	text := fmt.Sprintf("[plugin]\nname = %q\nversion = \"1.0.0\"\nabi_version = 2\n%s", name, more)
	err := os.Mkdir(at, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(at, "manifest.toml"), []byte(text), 0o644)
	}
	if err == nil { // no link: the reader of manifests follows no link out of the directory
		err = os.WriteFile(filepath.Join(at, name), fmt.Appendf(nil, "#!/bin/sh\nAINB_KID=%s exec %s\n", name, testrun.Kid(t)), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return at
}

const everySurface = "[capabilities]\nevent_bus = true\n[provides]\nscreens = [\"s\"]\ncli_namespaces = [\"kid\"]\nsnapshots = [\"kid.state\"]\n[subscribes]\nsnapshots = [\"a\", \"b\"]\n"

// TestAinbClauses: the table has the axes of the contract, in its order.
func TestAinbClauses(t *testing.T) {
	const want = "A01 MUST, A01.identity MUST, A01.abi SHOULD, A02 MUST, A02.viewport MUST, A03 MUST, A04 MUST, A05 MUST, A06 SHOULD, A07 MUST, " +
		"A07.chunks MUST, A08 MUST, A09 MUST, A10 MUST, A11 MUST, A11.notification MUST, A12 MUST, A13 MUST, A14 MUST"
	var got []string
	for _, a := range (&ainbSuite{lab: &lab{}, manifest: &manifest.Manifest{}}).axes() {
		got = append(got, a.clause+" "+string(a.level))
	}
	if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAinbAxes runs the suite on good extensions, and on others that each break some axes.
func TestAinbAxes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	slots := make(chan struct{}, 2)
	var running sync.WaitGroup
	all := map[string][]string{
		"ainb-sdk":                  nil,
		"ainb-good":                 nil,
		"ainb-takes-any-revision":   {"A01.abi"},
		"ainb-follows-the-document": nil,
		"ainb-has-another-abi":      {"A01.identity", "A02.viewport", "A05", "A06", "A08", "A12", "A13", "A14"},
		"ainb-prints":               {"A01.identity", "A01.abi", "A02", "A02.viewport", "A03", "A04", "A05", "A06", "A07", "A07.chunks", "A08", "A11", "A11.notification", "A12", "A13", "A14"},
		"ainb-sends-a-batch":        {"A02"},
		"ainb-draws-outside":        {"A02.viewport"},
		"ainb-knows-everything":     {"A03", "A04", "A07", "A07.chunks"},
		"ainb-is-restless":          {"A05"},
		"ainb-publishes-nothing":    {"A06"},
		"ainb-dies-of-events":       {"A04", "A06", "A07", "A07.chunks"},
		"ainb-shouts":               {"A09"},
		"ainb-is-relative":          {"A10"},
		"ainb-stays":                {"A04", "A07", "A07.chunks", "A11", "A11.notification"},
		"ainb-exits-badly":          {"A04", "A07", "A07.chunks", "A11", "A11.notification"},
		"ainb-has-no-status":        {"A08", "A14"},
	}
	for _, name := range sampling.Short(t, 4, slices.Sorted(maps.Keys(all))) {
		want := all[name]
		at := installAinb(t, dir, name, everySurface)
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			o := AinbOptions{Setup: Setup{Within: ample, Exit: ample}}
			if name == "ainb-stays" {
				o.Exit = time.Second
			}
			if slices.Contains(want, "A06") {
				o.Within = 5 * time.Second
			}
			r, err := RunAinb(context.Background(), at, o)
			if err != nil {
				t.Error(err)
				return
			}
			if diff := cmp.Diff(want, failed(r)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
				for _, a := range r.Axes {
					t.Logf("%s %s %s: %s", name, a.Clause, a.Status, a.Got)
				}
			}
		})
	}
	running.Wait()
}

// TestAinbAxesAreSkipped: the suite skips surfaces that a manifest does not offer. A bad or missing
// manifest is one failure.
func TestAinbAxesAreSkipped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, err := RunAinb(t.Context(), installAinb(t, dir, "ainb-good", ""), AinbOptions{Setup: Setup{Within: ample, Exit: ample}})
	if err != nil {
		t.Fatal(err)
	}
	var skipped []string
	for _, a := range r.Axes {
		if a.Status == Skip {
			skipped = append(skipped, a.Clause)
		}
	}
	if want := []string{"A02.viewport", "A05", "A06", "A07", "A07.chunks", "A08", "A14"}; !slices.Equal(skipped, want) || r.Failed != 0 || r.ID != "ainb-good" {
		t.Errorf("skipped %q, %d failed", skipped, r.Failed)
	}
	for name, more := range map[string]string{"ainb-bad": "[lifecycle]\nspawn = 1\n", "ainb-none": ""} {
		at := installAinb(t, dir, name, more)
		if more == "" {
			os.Remove(filepath.Join(at, "manifest.toml"))
		}
		r, err := RunAinb(t.Context(), at, AinbOptions{})
		if got := failed(r); err != nil || !slices.Equal(got, []string{"A01"}) {
			t.Errorf("%s: failed %q, %v", name, got, err)
		}
	}
}
