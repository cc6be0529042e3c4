package plugintest

import (
	"bytes"
	"context"
	"encoding/json"
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
)

// ainbAxes returns the axes of the contract. Those without a test are judged by all messages.
func ainbAxes() []ainbAxis {
	return []ainbAxis{
		{clause: "A01", level: Must, expected: "the manifest is valid, and means the same when it is written again", run: validManifest},
		{clause: "A01.identity", level: Must, expected: "plugin/init is answered with the name and version of the manifest, or with the manifest itself, and with no abi_version but 2", run: namesItself},
		{clause: "A01.abi", level: Should, expected: "plugin/init of another revision is answered with an error", run: refusesRevisions},
		{clause: "A02", level: Must, expected: "standard output has frames of JSON-RPC 2.0 alone"},
		{clause: "A02.viewport", level: Must, expected: "a screen of 80 by 24 has no cell outside of its own buffer", needs: aScreen, run: fillsItsBuffer},
		{clause: "A03", level: Must, expected: "an unknown method is answered with -32601, an unknown notification ignored", run: refusesMethods},
		{clause: "A04", level: Must, expected: "it goes on, or refuses plugin/init, when all that it asks for is denied", run: takes(events()...)},
		{clause: "A05", level: Must, expected: "the same state is drawn with the same bytes", needs: aScreen, run: drawsTheSame},
		{clause: "A06", level: Should, expected: "the topics of provides.snapshots are published", needs: aTopic, run: publishes},
		{clause: "A07", level: Must, expected: "it takes the events of its topics", needs: aSubscription, run: takes(events()...)},
		{clause: "A07.chunks", level: Must, expected: "it takes payloads of 2 MiB in a row", needs: aSubscription, run: takes(chunks()...)},
		{clause: "A08", level: Must, expected: "an answer after its timeout does not disturb the next one", needs: aCommand, run: survivesTimeouts},
		{clause: "A09", level: Must, expected: "host/log has a level of the contract and a message"},
		{clause: "A10", level: Must, expected: "host/fs is asked for absolute paths"},
		{clause: "A11", level: Must, expected: "it exits with status 0 within 5 s of plugin/shutdown and the end of its input", run: shutsDown(true)},
		{clause: "A11.notification", level: Must, expected: "the same for plugin/shutdown as a notification", run: shutsDown(false)},
		{clause: "A12", level: Must, expected: "it starts again within 5 s of a SIGKILL", run: recovers},
		{clause: "A13", level: Must, expected: "three SIGKILLs quarantine it, and it starts after a reload", run: isQuarantined},
		{clause: "A14", level: Must, expected: "every namespace answers --help with stdout, stderr and exit_code", needs: aCommand, run: answersCommands},
	}
}

// lacks returns why a manifest has nothing for an axis.
func lacks(list []string, what string) string {
	if len(list) == 0 {
		return "the manifest has no " + what
	}
	return ""
}

func aScreen(m *manifest.Manifest) string { return lacks(m.Provides.Screens, "provides.screens") }
func aTopic(m *manifest.Manifest) string  { return lacks(m.Provides.Snapshots, "provides.snapshots") }
func aCommand(m *manifest.Manifest) string {
	return lacks(m.Provides.CLINamespaces, "provides.cli_namespaces")
}
func aSubscription(m *manifest.Manifest) string {
	return lacks(m.Subscribes.Snapshots, "subscribes.snapshots")
}

func validManifest(_ context.Context, s *ainbSuite, _ string) outcome {
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

func namesItself(ctx context.Context, s *ainbSuite, axis string) outcome {
	h, err := s.host(ctx, axis)
	if err != nil {
		return fail("%v", err)
	}
	defer h.Close()
	return without(h.Wake(ctx, s.id()))
}

// host returns a host of the extension alone.
func (s *ainbSuite) host(ctx context.Context, axis string) (*ainb.Host, error) {
	n := host.Extension()
	n.Handshake, n.Shutdown = s.o.Within, s.o.Exit
	n.Respawn = []time.Duration{50 * time.Millisecond, 100 * time.Millisecond, 150 * time.Millisecond}
	grants := make(map[string]manifest.Grant)
	for name := range s.found.Manifest.Capabilities {
		grants[name] = manifest.Grant{All: true}
	}
	return ainb.Start(ctx, ainb.Options{
		Extensions: []ainb.Extension{{Found: *s.found, Grants: grants, Config: s.o.Config, Env: s.o.Env, WorkDir: s.scratch}},
		Numbers:    n,
		Home:       s.scratch,
		Log: func(l ainb.Line) {
			if l.Stream == "stderr" {
				fmt.Fprintln(s.o.Stderr, l.Message)
			}
		},
		Trace:     func(_ string, sent bool, body []byte) { s.observe(axis, sent, body) },
		Transport: unreachable{},
	})
}

// unreachable is a network without hosts.
type unreachable struct{}

// RoundTrip returns an error.
func (unreachable) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("there is no network during a test")
}

// hosted runs a test with a host whose extension has started.
func (s *ainbSuite) hosted(ctx context.Context, axis string, test func(h *ainb.Host) outcome) outcome {
	h, err := s.host(ctx, axis)
	if err != nil {
		return fail("%v", err)
	}
	defer h.Close()
	if err := h.Wake(ctx, s.id()); err != nil {
		return fail("it does not start: %v", err)
	}
	return test(h)
}

// alive returns a pass if the extension still runs: it ran since the first status.
func (s *ainbSuite) alive(h *ainb.Host, pid int) outcome {
	st := h.Statuses()[0]
	return when(st.State == host.Ready && st.PID == pid, "it is %s: %v", st.State, st.Failure)
}

func fillsItsBuffer(ctx context.Context, s *ainbSuite, axis string) outcome {
	return s.hosted(ctx, axis, func(h *ainb.Host) outcome {
		f, err := h.Render(ctx, s.id(), ainb.Viewport{Width: 80, Height: 24})
		if err != nil {
			return fail("%v", err)
		}
		for _, c := range f.Buffer.Cells {
			if c.At.X >= f.Buffer.Width || c.At.Y >= f.Buffer.Height {
				return fail("a cell at %d, %d of a buffer of %d by %d", c.At.X, c.At.Y, f.Buffer.Width, f.Buffer.Height)
			}
		}
		return pass()
	})
}

// settle is how many screens an extension may draw before they stay equal; equal is how many equal ones
// are required.
const (
	settle = 20
	equal  = 3
)

func drawsTheSame(ctx context.Context, s *ainbSuite, axis string) outcome {
	return s.hosted(ctx, axis, func(h *ainb.Host) outcome {
		var last []byte
		same := 1
		for range settle + equal {
			f, err := h.Render(ctx, s.id(), ainb.Viewport{Width: 80, Height: 24})
			if err != nil {
				return fail("%v", err)
			}
			text, err := json.Marshal(f.Buffer)
			if err != nil {
				return fail("%v", err)
			}
			if same++; !bytes.Equal(text, last) {
				last, same = text, 1
			}
			if same == equal {
				return pass()
			}
		}
		return fail("no %d screens in a row are equal, of %d", equal, settle+equal)
	})
}

func publishes(ctx context.Context, s *ainbSuite, axis string) outcome {
	return s.hosted(ctx, axis, func(h *ainb.Host) outcome {
		if o := s.feed(h, []byte("{}")); o.status != Pass {
			return o
		}
		for until := time.Now().Add(s.o.Within); ; {
			var missing []string
			for _, topic := range s.found.Manifest.Provides.Snapshots {
				if _, version := h.Snapshot(topic); version == 0 {
					missing = append(missing, topic)
				}
			}
			if len(missing) == 0 {
				return pass()
			}
			if time.Now().After(until) {
				return fail("not published within %v: %s", s.o.Within, strings.Join(missing, ", "))
			}
			if !sleep(ctx, 20*time.Millisecond) {
				return fail("%v", ctx.Err())
			}
		}
	})
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// feed publishes a payload to each topic of the extension.
func (s *ainbSuite) feed(h *ainb.Host, payload []byte) outcome {
	for _, topic := range s.found.Manifest.Subscribes.Snapshots {
		if err := h.Publish(topic, payload); err != nil {
			return fail("%v", err)
		}
	}
	return pass()
}

func survivesTimeouts(ctx context.Context, s *ainbSuite, axis string) outcome {
	return s.hosted(ctx, axis, func(h *ainb.Host) outcome {
		pid, c := h.Statuses()[0].PID, ainb.Command{Namespace: s.found.Manifest.Provides.CLINamespaces[0], Argv: []string{"--help"}, Within: time.Nanosecond}
		_, _ = h.Command(ctx, s.id(), c)
		c.Within = s.o.Within
		if _, err := h.Command(ctx, s.id(), c); err != nil {
			return fail("%v", err)
		}
		return s.alive(h, pid)
	})
}

func answersCommands(ctx context.Context, s *ainbSuite, axis string) outcome {
	return s.hosted(ctx, axis, func(h *ainb.Host) outcome {
		for _, n := range s.found.Manifest.Provides.CLINamespaces {
			if _, err := h.Command(ctx, s.id(), ainb.Command{Namespace: n, Argv: []string{"--help"}, Within: s.o.Within}); err != nil {
				return fail("%s --help: %v", n, err)
			}
		}
		return pass()
	})
}

// kill kills the process of the extension, and waits until the host knows.
func (s *ainbSuite) kill(ctx context.Context, h *ainb.Host) error {
	pid := h.Statuses()[0].PID
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	for err == nil && h.Statuses()[0].PID == pid {
		if !sleep(ctx, 5*time.Millisecond) {
			err = ctx.Err()
		}
	}
	return err
}

func recovers(ctx context.Context, s *ainbSuite, axis string) outcome {
	return s.hosted(ctx, axis, func(h *ainb.Host) outcome {
		if err := s.kill(ctx, h); err != nil {
			return fail("%v", err)
		}
		ctx, cancel := context.WithTimeout(ctx, s.o.Within)
		defer cancel()
		return without(h.Wake(ctx, s.id()))
	})
}

func isQuarantined(ctx context.Context, s *ainbSuite, axis string) outcome {
	return s.hosted(ctx, axis, func(h *ainb.Host) outcome {
		for i := range 3 {
			if i > 0 {
				if err := h.Wake(ctx, s.id()); err != nil {
					return fail("start %d: %v", i+1, err)
				}
			}
			if err := s.kill(ctx, h); err != nil {
				return fail("%v", err)
			}
		}
		var f *adapters.Failure
		if err := h.Wake(ctx, s.id()); !errors.As(err, &f) || f.Code != adapters.Quarantined {
			return fail("after three kills: %v", err)
		}
		if err := h.Reload(s.id()); err != nil {
			return fail("%v", err)
		}
		return without(h.Wake(ctx, s.id()))
	})
}
