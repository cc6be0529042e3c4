package ainb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/host"
)

// TestOrder: keys overtake queued events, mouse events do not, and each kind keeps its order.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		r := newRig(t, withBus+"[subscribes]\nsnapshots = [\"a\"]\n", nil, func(k *kid) {
			k.greet()
			time.Sleep(time.Second) // all are queued, and one event is being written
			for {
				q := k.read()
				if q.over || q.Method == "plugin/shutdown" {
					return
				}
				got = append(got, strings.TrimPrefix(q.Method, "plugin/handle_"))
			}
		})
		r.wake(t, "kid-x")
		for range 100 {
			if err := r.Publish("a", []byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		for range 70 {
			r.Mouse("kid-x", "s", Mouse{Kind: MouseKind{Type: "moved"}})
			r.Key("kid-x", "s", Key{Code: KeyCode{Type: "enter"}, Kind: "press"})
		}
		time.Sleep(time.Second)
		synctest.Wait()
		want := "event " + strings.Repeat("key ", 64) + strings.Repeat("mouse ", 64) + strings.Repeat("event ", 99)
		if g := strings.Join(got, " ") + " "; g != want {
			t.Errorf("got %s", g)
		}
		if d := r.Statuses()[0].Dropped; d != 12 {
			t.Errorf("%d inputs dropped, want 12", d)
		}
	})
}

// TestBusOfTwo: a publish reaches the other extension, not its publisher. Each extension has a slot of
// ui.state, which is removed with its process. The version counts all publishes.
func TestBusOfTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{m: map[string]*memory{}}
		got := map[string][]string{}
		var mu sync.Mutex
		run := func(name string) func(k *kid) {
			return func(k *kid) {
				k.result(k.read(), fmt.Sprintf(`{"name":%q,"version":"1.0.0"}`, name))
				for {
					q := k.read()
					if q.over || q.Method == "plugin/shutdown" {
						return
					}
					if q.Method == "plugin/handle_event" {
						mu.Lock()
						got[name] = append(got[name], string(q.Params))
						mu.Unlock()
					}
					if q.Method == "plugin/handle_key" {
						k.tell("host/snapshot/publish", `{"topic":"a","payload":"aGk="}`)
						k.tell("host/snapshot/publish", `{"topic":"ui.state","payload":[1,2]}`)
						k.tell("host/snapshot/publish", `{"topic":"ui.state/kid-b","payload":""}`)
						a := k.ask("1", "host/snapshot/get", `{"topic":"ui.state"}`)
						mu.Lock()
						got[name] = append(got[name], string(a.Result))
						mu.Unlock()
					}
				}
			}
		}
		more := withBus + "[subscribes]\nsnapshots = [\"a\"]\n"
		a, b := r.member(t, "kid-a", more, run("kid-a")), r.member(t, "kid-b", more, run("kid-b"))
		r.start(t, func(o *Options) { o.Extensions = []Extension{a, b} })
		r.wake(t, "kid-a")
		r.wake(t, "kid-b")
		r.Key("kid-a", "s", Key{})
		synctest.Wait()
		if err := r.Publish("a", nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		empty := `{"topic":"a","payload":""}`
		want := map[string][]string{
			"kid-a": {`{"payload":"AQI=","version":2}`, empty},
			"kid-b": {`{"topic":"a","payload":"aGk="}`, empty},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if !strings.Contains(r.decided(), "slot of another extension") {
			t.Errorf("decisions: %s", r.decided())
		}
		if payload, version := r.Snapshot("ui.state/kid-a"); string(payload) != "\x01\x02" || version != 2 {
			t.Errorf("%q, version %d", payload, version)
		}
		if err := r.Reload("kid-a"); err != nil {
			t.Fatal(err)
		}
		if _, version := r.Snapshot("ui.state/kid-a"); version != 0 {
			t.Errorf("the slot of an ended process has the version %d", version)
		}
		if _, version := r.Snapshot("a"); version != 3 {
			t.Errorf("version %d", version)
		}
	})
}

// TestBusGate: a request without a grant of event_bus is refused, and such a publish is dropped without an
// answer.
func TestBusGate(t *testing.T) {
	for capabilities, want := range map[string]string{
		"":                                   "-32001 -32001 -32001 -32001 none",
		"event_bus = false":                  "-32001 -32001 -32001 -32001 none",
		"event_bus = []":                     "-32001 -32001 -32001 -32001 none",
		"event_bus = true":                   "0 0 -32001 -32001 a b",
		`event_bus = ["a"]`:                  "0 -32001 -32001 -32001 a",
		`event_bus = ["b*"]`:                 "-32001 0 -32001 -32001 b",
		`event_bus = ["*"]`:                  "0 0 -32001 -32001 a b",
		`event_bus = ["fleet.x", "fleet.*"]`: "-32001 -32001 0 -32001 none",
	} {
		synctest.Test(t, func(t *testing.T) {
			var codes []string
			r := newRig(t, "[capabilities]\n"+capabilities+"\n[subscribes]\nsnapshots = [\"a\", \"fleet.x\"]\n", func(o *Options) { o.Own = []string{"own"} }, func(k *kid) {
				k.greet()
				for i, topic := range []string{"a", "b", "fleet.x", "fleet.y"} {
					code := 0
					for _, method := range []string{"host/snapshot/get", "host/snapshot/subscribe"} {
						if e := k.ask(fmt.Sprint(i), method, fmt.Sprintf(`{"topic":%q}`, topic)).Error; e != nil {
							code = e.Code
							if e.Message != "capability denied: event_bus" {
								t.Errorf("%s", e.Message)
							}
						}
					}
					codes = append(codes, fmt.Sprint(code))
				}
				for _, topic := range []string{"a", "b", "fleet.x", "fleet.y", "own"} {
					k.tell("host/snapshot/publish", fmt.Sprintf(`{"topic":%q,"payload":""}`, topic))
				}
				k.serve()
			})
			r.wake(t, "kid-x")
			synctest.Wait()
			topics := strings.Join(r.bus.Topics(), " ")
			if topics == "" {
				topics = "none"
			}
			if got := strings.Join(codes, " ") + " " + topics; got != want {
				t.Errorf("%q: got %s, want %s", capabilities, got, want)
			}
		})
	}
}

// TestSubscriptions: the extension receives the topics of its manifest without a subscription, and those
// of fleet only by name. A second subscription has no effect. A new process has the topics of the manifest
// alone.
func TestSubscriptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		run := func(k *kid) {
			k.greet()
			for {
				q := k.read()
				switch {
				case q.over || q.Method == "plugin/shutdown":
					return
				case q.Method == "plugin/handle_event":
					got = append(got, string(q.Params))
				case q.Method == "plugin/handle_key":
					for range 2 {
						if a := k.ask("1", "host/snapshot/subscribe", `{"topic":"b"}`); string(a.Result) != "{}" {
							t.Errorf("%s %v", a.Result, a.Error)
						}
					}
				}
			}
		}
		r := newRig(t, withBus+"[subscribes]\nsnapshots = [\"a\"]\n", nil, run)
		publish := func(want ...string) {
			t.Helper()
			got = nil
			for _, topic := range []string{"a", "b"} {
				if err := r.Publish(topic, nil); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		}
		a, b := `{"topic":"a","payload":""}`, `{"topic":"b","payload":""}`
		if r.Wants("a") {
			t.Error("a lazy extension wants an event")
		}
		publish()
		r.wake(t, "kid-x")
		publish(a)
		if !r.Wants("a") || r.Wants("b") {
			t.Error("wants")
		}
		r.Key("kid-x", "s", Key{})
		synctest.Wait()
		publish(a, b)
		if err := r.Reload("kid-x"); err != nil {
			t.Fatal(err)
		}
		publish()
		r.wake(t, "kid-x")
		publish(a)
	})
}

// TestLog: lines below the level of the host are left out, and stderr is read line by line. No control
// character of a line reaches the terminal.
func TestLog(t *testing.T) {
	for level, want := range map[string]string{
		"":      "info  m{}\nwarn  m{}\nerror  m{}",
		"trace": "trace  m{}\ndebug  m{}\ninfo  m{}\nwarn  m{}\nerror  m{}",
		"error": "error  m{}",
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, "", func(o *Options) { o.Level = level }, func(k *kid) {
				k.greet()
				for _, l := range levels() {
					k.tell("host/log", fmt.Sprintf(`{"level":%q,"message":"m\u001b","fields":{}}`, l))
				}
				k.ask("1", "host/none", "{}")
				k.say("one\x1b[2J\r\ntwo")
				k.serve()
			})
			r.wake(t, "kid-x")
			synctest.Wait()
			want := strings.ReplaceAll(want, "m{}", "m {}") + "\ninfo stderr one[2J\ninfo stderr two"
			if diff := cmp.Diff(want, r.logged()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestIdle: an unused extension ends, unless it follows topics or its screen is shown.
func TestIdle(t *testing.T) {
	const idle = "[lifecycle]\nidle_reap_secs = 10\n"
	for name, c := range map[string]struct {
		more string
		do   func(r *rig)
		want time.Duration // 0: it does not end
	}{
		"unused":              {withBus + idle, nil, 10 * time.Second},
		"never":               {withBus + "[lifecycle]\nidle_reap_secs = 0\n", nil, 0},
		"follows a topic":     {withBus + "[subscribes]\nsnapshots = [\"a\"]\n" + idle, nil, 0},
		"may not follow it":   {"[subscribes]\nsnapshots = [\"a\"]\n" + idle, nil, 10 * time.Second},
		"latest state alone":  {withBus + "[subscribes]\nsnapshots = [\"a\"]\nlatest_state = [\"a\"]\n" + idle, func(r *rig) { _ = r.Publish("a", nil) }, 10 * time.Second},
		"a screen":            {idle, func(r *rig) { _, _ = r.Render(context.Background(), "kid-x", Viewport{}) }, 37 * time.Second},
		"a key after 7 s":     {idle, func(r *rig) { r.Key("kid-x", "s", Key{}) }, 17 * time.Second},
		"a command after 7 s": {idle, func(r *rig) { _, _ = r.Command(context.Background(), "kid-x", Command{}) }, 17 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, c.more, nil, (*kid).serve)
				r.wake(t, "kid-x")
				began := time.Now()
				time.Sleep(7 * time.Second)
				if c.do != nil {
					c.do(r)
				}
				for time.Since(began) < time.Minute && r.state() == host.Ready {
					time.Sleep(time.Second)
					synctest.Wait()
				}
				lived := time.Since(began)
				if c.want == 0 && lived < time.Minute || c.want > 0 && (lived < c.want || lived > c.want+6*time.Second) {
					t.Errorf("it lived for %v, want %v", lived, c.want)
				}
				if c.want > 0 && r.state() != host.Idle {
					t.Errorf("state %s", r.state())
				}
			})
		})
	}
}

// TestScreens: an extension whose screen takes too long is wedged until a screen arrives in time. One that
// requests the next screen again and again is slowed down until there is an input.
func TestScreens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slow atomic.Bool
		slow.Store(true)
		r := newRig(t, "", nil, func(k *kid) {
			k.greet()
			for {
				q := k.read()
				switch {
				case q.over || q.Method == "plugin/shutdown":
					return
				case q.Method != "plugin/render":
				case slow.Load():
					time.Sleep(3 * time.Second)
					fallthrough
				default:
					k.result(q, `{"buffer":{"width":0,"height":0,"cells":[]},"redraw":true}`)
				}
			}
		})
		draw := func() (*Frame, error) { return r.Render(t.Context(), "kid-x", Viewport{80, 24}) }
		r.wake(t, "kid-x")
		var f *adapters.Failure
		if _, err := draw(); !errors.As(err, &f) || f.Code != adapters.Timeout || !r.Statuses()[0].Wedged {
			t.Errorf("slow: %v, wedged %t", err, r.Statuses()[0].Wedged)
		}
		time.Sleep(3 * time.Second)
		slow.Store(false)
		redraws := 0
		for range 1000 {
			frame, err := draw()
			if err != nil {
				t.Fatal(err)
			}
			if frame.Redraw {
				redraws++
			}
		}
		if redraws != maxRedraws+1 || r.Statuses()[0].Wedged {
			t.Errorf("%d redraws, want %d and one probe; wedged %t", redraws, maxRedraws, r.Statuses()[0].Wedged)
		}
		time.Sleep(probe)
		if frame, _ := draw(); !frame.Redraw {
			t.Error("no probe after 5 s")
		}
		r.Key("kid-x", "s", Key{})
		if frame, _ := draw(); !frame.Redraw {
			t.Error("no redraw after a key")
		}
	})
}
