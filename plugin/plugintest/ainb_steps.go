package plugintest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/ainb"
	"github.com/bentobuild/bento/plugin/ainb/manifest"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/wire"
)

func (s *ainbSuite) validManifest() outcome {
	if s.found == nil {
		if len(s.problems) == 0 {
			return fail("there is no %s", manifest.File)
		}
		return fail("%v", s.problems[0])
	}
	data, err := os.ReadFile(filepath.Join(s.dir, manifest.File))
	var tree map[string]any
	var again bytes.Buffer
	if err == nil {
		err = toml.Unmarshal(data, &tree)
	}
	if err == nil {
		err = toml.NewEncoder(&again).Encode(tree)
	}
	if err != nil {
		return fail("%v", err)
	}
	m, problems := manifest.Parse(manifest.File, again.Bytes())
	return when(reflect.DeepEqual(m, s.found.Manifest), "written again it differs: %v", problems)
}

// Steps on a process without a host.

// noMethod is a method that no revision of the contract has.
const noMethod = "plugin/bento_ext_test"

// init makes the handshake of a revision of the contract.
func (s *ainbSuite) init(ctx context.Context, t *talk, revision int) (wire.Message, error) {
	return t.ask(ctx, "plugin/init", map[string]any{
		"manifest_path": filepath.Join(s.dir, manifest.File), "granted_capabilities": []string{}, "abi_version": revision, "config": s.config,
	})
}

func (s *ainbSuite) greets(ctx context.Context, t *talk) outcome {
	m, err := s.init(ctx, t, manifest.ABI)
	_, err = resultOf("plugin/init", &m, err)
	return without(err)
}

func (s *ainbSuite) refusesRevision(ctx context.Context, t *talk) outcome {
	m, err := s.init(ctx, t, manifest.ABI+97)
	if err != nil {
		return without(err)
	}
	return when(m.Error != nil, "plugin/init with abi_version %d: the result %.60s", manifest.ABI+97, m.Result)
}

// takesDenial is takes of an extension that may refuse to start without its capabilities.
func (s *ainbSuite) takesDenial(ctx context.Context, t *talk) outcome {
	m, err := s.init(ctx, t, manifest.ABI)
	if err != nil || m.Error != nil {
		return without(err)
	}
	return s.takes(events()...)(ctx, t)
}

// takes returns the step that sends events of all topics, then a request, then the shutdown. The extension
// shuts down after it has handled all of them.
func (s *ainbSuite) takes(payloads ...[]byte) step {
	return func(ctx context.Context, t *talk) outcome {
		for _, p := range payloads {
			for _, topic := range s.manifest.Subscribes.Snapshots {
				if err := t.notify(ctx, "plugin/handle_event", map[string]any{"topic": topic, "payload": p}); err != nil {
					return fail("an event of %s: %v", topic, err)
				}
			}
		}
		m, err := t.ask(ctx, noMethod, struct{}{})
		switch {
		case err != nil:
			return fail("the next request: %v", err)
		case m.Error == nil:
			return fail("the next request: the result %.60s", m.Result)
		}
		return shutsDownByRequest(ctx, t)
	}
}

// events are payloads as bento never sends them, and one as it does.
func events() [][]byte {
	return [][]byte{[]byte("{}"), {}, []byte("\xff\x00"), []byte(`{"schema":"bento.none.v0"}`)}
}

// chunks are large payloads.
func chunks() [][]byte {
	chunk := bytes.Repeat([]byte{0x90}, 2<<20)
	return [][]byte{chunk, chunk, chunk}
}

// The two forms of plugin/shutdown, after which the stream ends.

func shutsDownByRequest(ctx context.Context, t *talk) outcome {
	_ = t.send(t.request("plugin/shutdown", struct{}{}, nil)) // it may have ended
	return ends(ctx, t)
}

func shutsDownByNotification(ctx context.Context, t *talk) outcome {
	_ = t.notify(ctx, "plugin/shutdown", struct{}{}) // it may have ended
	return ends(ctx, t)
}

func ends(ctx context.Context, t *talk) outcome {
	if o := do(closesInput, exits("plugin/shutdown"))(ctx, t); o.status != Pass {
		return o
	}
	return when(t.status() == "exit status 0", "it ended with: %s", t.status())
}

// hostStep is a step on an extension that bento's host has.
type hostStep func(ctx context.Context, h *ainb.Host) outcome

// hosted returns the test that makes steps on a host of the extension alone.
func (s *ainbSuite) hosted(steps ...hostStep) test {
	return func(ctx context.Context, clause string) outcome {
		h, err := s.host(ctx, clause)
		if err != nil {
			return without(err)
		}
		defer h.Close()
		for _, step := range steps {
			if o := step(ctx, h); o.status != Pass {
				return o
			}
		}
		return pass()
	}
}

func (s *ainbSuite) host(ctx context.Context, clause string) (*ainb.Host, error) {
	n := host.Extension()
	n.Handshake, n.Shutdown = s.Within, s.Exit
	n.Respawn = []time.Duration{50 * time.Millisecond, 100 * time.Millisecond, 150 * time.Millisecond}
	grants := make(map[string]manifest.Grant)
	for name := range s.manifest.Capabilities {
		grants[name] = manifest.Grant{All: true}
	}
	return ainb.Start(ctx, ainb.Options{
		Extensions: []ainb.Extension{{Found: *s.found, Grants: grants, Config: s.config, Env: s.Env, WorkDir: s.scratch}},
		Numbers:    n,
		Home:       s.scratch,
		Log: func(l ainb.Line) {
			if l.Stream == "stderr" {
				fmt.Fprintln(s.Stderr, l.Message)
			}
		},
		Trace: func(_ string, sent bool, body []byte) {
			if sent {
				return
			}
			m, err := wire.ParseMessage(body, maxDepth)
			if err != nil {
				s.seen.note(clause, "A02", "%v", err)
				return
			}
			s.judge(clause, &m)
		},
		Transport: unreachable{},
	})
}

// unreachable is a network without hosts.
type unreachable struct{}

// RoundTrip returns an error.
func (unreachable) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("there is no network during a test")
}

func (s *ainbSuite) isAwake(ctx context.Context, h *ainb.Host) outcome {
	return without(h.Wake(ctx, s.id()))
}

func (s *ainbSuite) wakes(ctx context.Context, h *ainb.Host) outcome {
	if err := h.Wake(ctx, s.id()); err != nil {
		return fail("it does not start: %v", err)
	}
	return pass()
}

func (s *ainbSuite) render(ctx context.Context, h *ainb.Host) (*ainb.Frame, error) {
	return h.Render(ctx, s.id(), ainb.Viewport{Width: 80, Height: 24})
}

func (s *ainbSuite) fillsItsBuffer(ctx context.Context, h *ainb.Host) outcome {
	f, err := s.render(ctx, h)
	if err != nil {
		return without(err)
	}
	for _, c := range f.Buffer.Cells {
		if c.At.X >= f.Buffer.Width || c.At.Y >= f.Buffer.Height {
			return fail("a cell at %d, %d of a buffer of %d by %d", c.At.X, c.At.Y, f.Buffer.Width, f.Buffer.Height)
		}
	}
	return pass()
}

// settle is how many screens an extension may draw before they stay equal; equal is how many equal ones
// are required.
const (
	settle = 20
	equal  = 3
)

func (s *ainbSuite) drawsTheSame(ctx context.Context, h *ainb.Host) outcome {
	var last []byte
	same := 1
	for range settle + equal {
		f, err := s.render(ctx, h)
		if err != nil {
			return without(err)
		}
		text := encoded(f.Buffer)
		if same++; !bytes.Equal(text, last) {
			last, same = text, 1
		}
		if same == equal {
			return pass()
		}
	}
	return fail("no %d screens in a row are equal, of %d", equal, settle+equal)
}

// publishes feeds the extension, and waits until it has published each of its topics.
func (s *ainbSuite) publishes(ctx context.Context, h *ainb.Host) outcome {
	for _, topic := range s.manifest.Subscribes.Snapshots {
		if err := h.Publish(topic, []byte("{}")); err != nil {
			return without(err)
		}
	}
	for until := time.Now().Add(s.Within); ; {
		var missing []string
		for _, topic := range s.manifest.Provides.Snapshots {
			if _, version := h.Snapshot(topic); version == 0 {
				missing = append(missing, topic)
			}
		}
		if len(missing) == 0 {
			return pass()
		}
		if time.Now().After(until) {
			return fail("not published within %v: %s", s.Within, strings.Join(missing, ", "))
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return without(err)
		}
	}
}

func (s *ainbSuite) help(ctx context.Context, h *ainb.Host, namespace string, within time.Duration) error {
	_, err := h.Command(ctx, s.id(), ainb.Command{Namespace: namespace, Argv: []string{"--help"}, Within: within})
	return err
}

func (s *ainbSuite) survivesTimeouts(ctx context.Context, h *ainb.Host) outcome {
	pid, namespace := h.Statuses()[0].PID, s.manifest.Provides.CLINamespaces[0]
	_ = s.help(ctx, h, namespace, time.Nanosecond)
	if err := s.help(ctx, h, namespace, s.Within); err != nil {
		return without(err)
	}
	st := h.Statuses()[0]
	return when(st.State == host.Ready && st.PID == pid, "it is %s: %v", st.State, st.Failure)
}

func (s *ainbSuite) answersCommands(ctx context.Context, h *ainb.Host) outcome {
	for _, n := range s.manifest.Provides.CLINamespaces {
		if err := s.help(ctx, h, n, s.Within); err != nil {
			return fail("%s --help: %v", n, err)
		}
	}
	return pass()
}

// kill kills the process of the extension, and waits until the host knows.
func (s *ainbSuite) kill(ctx context.Context, h *ainb.Host) error {
	pid := h.Statuses()[0].PID
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	for err == nil && h.Statuses()[0].PID == pid {
		err = pause(ctx, 5*time.Millisecond)
	}
	return err
}

func (s *ainbSuite) recovers(ctx context.Context, h *ainb.Host) outcome {
	if err := s.kill(ctx, h); err != nil {
		return without(err)
	}
	ctx, cancel := context.WithTimeout(ctx, s.Within)
	defer cancel()
	return s.isAwake(ctx, h)
}

func (s *ainbSuite) isQuarantined(ctx context.Context, h *ainb.Host) outcome {
	for i := range 3 {
		if i > 0 {
			if err := h.Wake(ctx, s.id()); err != nil {
				return fail("start %d: %v", i+1, err)
			}
		}
		if err := s.kill(ctx, h); err != nil {
			return without(err)
		}
	}
	var f *adapters.Failure
	if err := h.Wake(ctx, s.id()); !errors.As(err, &f) || f.Code != adapters.Quarantined {
		return fail("after three kills: %v", err)
	}
	if err := h.Reload(s.id()); err != nil {
		return without(err)
	}
	return s.isAwake(ctx, h)
}
