package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// reside returns the resident of the given children, with its states. The end of the test closes it.
func reside(t *testing.T, change func(o *ResidentOptions), run ...func(c *child)) (*Resident, *memory, *states) {
	t.Helper()
	m, s := &memory{run: run}, &states{}
	o := ResidentOptions{
		ID: "zig", Path: "/x/zig", Launcher: m, Numbers: Extension(),
		Connect: func(_ context.Context, s *Stream) (*wire.Peer, error) {
			return wire.NewPeer(wire.NewConn(s.Stdout, s.Stdin, Extension().Wire), wire.PeerOptions{}), nil
		},
		Hello: func(ctx context.Context, p *wire.Peer) error {
			_, err := p.Call(ctx, "hello", nil)
			return err
		},
		Shutdown: func(Ending) (string, any) { return "shutdown", nil },
		Changed:  s.add,
	}
	if change != nil {
		change(&o)
	}
	r := Reside(t.Context(), o)
	t.Cleanup(func() { r.Close(); m.alive.Wait() })
	return r, m, s
}

// states records the states of a resident.
type states struct {
	mu   sync.Mutex
	list []State
}

func (s *states) add(state State, _ *adapters.Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, state)
}

func (s *states) since() (list []State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, s.list = s.list, nil
	return list
}

func ask(r *Resident, method string) (string, error) {
	result, err := r.Call(context.Background(), Call{Method: method})
	return string(result), err
}

// after checks how long an operation took.
func after(t *testing.T, what string, began time.Time, want time.Duration) {
	t.Helper()
	if d := time.Since(began); d != want {
		t.Errorf("%s took %v, want %v", what, d, want)
	}
}

func TestResidentStartsWithACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m, s := reside(t, nil, (*child).serve)
		synctest.Wait()
		if state, _ := r.State(); state != Idle || m.launched != 0 || r.Peer() != nil || r.Pid() != 0 {
			t.Errorf("before: %s, %d launches", state, m.launched)
		}
		if got, err := ask(r, "x"); got != `"x"` || err != nil {
			t.Errorf("got %s, %v", got, err)
		}
		if r.Peer() == nil {
			t.Error("ready without a connection")
		}
		r.Close()
		if diff := cmp.Diff([]State{Starting, Starting, Ready, Stopping, Stopped}, s.since()); diff != "" {
			t.Error(diff)
		}
		if _, err := ask(r, "x"); !strings.Contains(fmt.Sprint(err), "it was shut down") {
			t.Errorf("after Close: %v", err)
		}
		r.Reload() // has no effect, and does not hang
	})
}

// failing is a child that exits at the second message.
var failing = greeted(func(c *child) { c.read(); c.status = "exit status 7" })

// The first pauses are 1 and 4 s. The third failure within the window is the last, until a reload.
func TestResidentPausesAndQuarantine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m, _ := reside(t, nil, failing)
		for _, pause := range []time.Duration{0, time.Second} {
			began := time.Now()
			if code, message := codeOf(second(ask(r, "x"))); code != adapters.Crashed || message != "it exited (exit status 7)" {
				t.Errorf("got %s %q", code, message)
			}
			after(t, "the call", began, pause)
		}
		began := time.Now()
		code, message := codeOf(second(ask(r, "x")))
		after(t, "the third", began, 4*time.Second)
		synctest.Wait()
		if state, f := r.State(); state != Quarantined || f.Code != adapters.Quarantined || code != adapters.Crashed {
			t.Errorf("%s, %v after %s %s", state, f, code, message)
		}
		if code, message := codeOf(second(ask(r, "x"))); code != adapters.Quarantined || !strings.Contains(message, "it exited 3 times within 1m0s") {
			t.Errorf("got %s %q", code, message)
		}
		time.Sleep(time.Hour)
		if state, _ := r.State(); state != Quarantined || m.launched != 3 {
			t.Errorf("an hour later: %s, %d launches", state, m.launched)
		}
		r.Reload()
		if state, f := r.State(); state != Idle || f != nil {
			t.Errorf("reloaded: %s, %v", state, f)
		}
		_, _ = ask(r, "x")
		synctest.Wait()
		if state, _ := r.State(); state != Restarting {
			t.Errorf("the first failure after a reload: %s", state)
		}
	})
}

func second(_ string, err error) error { return err }

// Failures that are far apart cause no quarantine. The pauses are 1, 4 and 16 s, until a process is
// stable.
func TestResidentForgivesOldFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _, _ := reside(t, nil, failing)
		for i, pause := range []time.Duration{0, time.Second, 4 * time.Second, 16 * time.Second, 16 * time.Second} {
			began := time.Now()
			k, err := r.wait(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			after(t, fmt.Sprintf("start %d", i), began, pause)
			time.Sleep(40 * time.Second)
			_, _ = k.peer.Call(t.Context(), "x", nil)
			synctest.Wait()
			if state, _ := r.State(); state != Restarting {
				t.Fatalf("failure %d: %s", i, state)
			}
		}
		_, _ = r.wait(t.Context())
		time.Sleep(time.Minute)
		_, _ = ask(r, "x")
		began := time.Now()
		_, _ = r.wait(t.Context())
		after(t, "the start after a stable process", began, time.Second)
	})
}

// A program that cannot be started is tried three times, without pauses.
func TestResidentWithoutAProgram(t *testing.T) {
	for _, eager := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r, _, _ := reside(t, func(o *ResidentOptions) { o.Eager = eager })
			began := time.Now()
			for i := range 3 {
				synctest.Wait()
				code, _ := codeOf(second(ask(r, "x")))
				if code != adapters.LaunchFailed && !eager && i < 2 {
					t.Errorf("got %s", code)
				}
			}
			synctest.Wait()
			if state, _ := r.State(); state != Quarantined {
				t.Errorf("eager %t: %s", eager, state)
			}
			after(t, "that", began, 0)
		})
	}
}

func TestEagerResident(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m, _ := reside(t, func(o *ResidentOptions) { o.Eager = true }, failing, (*child).serve)
		synctest.Wait()
		if state, _ := r.State(); state != Ready || m.launched != 1 {
			t.Fatalf("%s, %d launches", state, m.launched)
		}
		_, _ = ask(r, "x")
		time.Sleep(time.Second)
		synctest.Wait()
		if state, _ := r.State(); state != Ready || m.launched != 2 {
			t.Errorf("%s, %d launches, want it started again", state, m.launched)
		}
	})
}

// A fault in the handshake or after it is a failure, and no process is left.
func TestResidentFailures(t *testing.T) {
	refuse := func(c *child) {
		_ = c.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32003,"message":"no"}}`, c.read().ID))
	}
	for name, c := range map[string]struct {
		run  func(c *child)
		code adapters.Code
		want string
		took time.Duration
	}{
		"silent":             {func(c *child) { c.read(); c.hang() }, adapters.HandshakeFailed, "the handshake timed out after 10s", 11 * time.Second},
		"half a frame":       {func(c *child) { c.read(); c.stdout.Write([]byte("Content-Len")); c.hang() }, adapters.HandshakeFailed, `timed out after 10s; `, 11 * time.Second},
		"exits":              {func(c *child) { c.read(); c.status = "exit status 3" }, adapters.HandshakeFailed, "it exited (exit status 3)", 0},
		"refuses and exits":  {refuse, adapters.HandshakeFailed, "error -32003: no", 0},
		"noise":              {func(c *child) { c.read(); c.stdout.Write([]byte("hello\n")); c.hang() }, adapters.MalformedResponse, "malformed frame", 0},
		"noise later":        {greeted(func(c *child) { c.read(); c.stdout.Write([]byte("hello\r\n")); c.hang() }), adapters.MalformedResponse, "malformed frame", 0},
		"closes its stdout":  {greeted(func(c *child) { c.read(); c.Close(); c.hang() }), adapters.Crashed, "it closed its standard output", time.Second},
		"half of a message":  {greeted(func(c *child) { c.read(); c.stdout.Write([]byte("Content-Length: 9\r\n\r\n{")) }), adapters.Crashed, "in the middle of a message", 0},
		"no answer":          {greeted(func(c *child) { c.read(); c.hang() }), adapters.Timeout, "timed out: no answer to x", 10 * time.Second},
		"stops reading":      {greeted((*child).hang), adapters.Timeout, "it does not read", 3 * time.Second},
		"answers with noise": {greeted(func(c *child) { c.reply(c.read(), "7}"); c.hang() }), adapters.MalformedResponse, "malformed", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := 0
				r, m, _ := reside(t, func(o *ResidentOptions) { o.Ended = func(*wire.Peer) { ended++ } }, c.run)
				began := time.Now()
				code, message := codeOf(second(ask(r, "x")))
				if code != c.code || !strings.Contains(message, c.want) {
					t.Errorf("got %s %q, want %s %q", code, message, c.code, c.want)
				}
				if d := time.Since(began); d > c.took {
					t.Errorf("took %v, want at most %v", d, c.took)
				}
				r.Close()
				m.alive.Wait()
				if ended != m.launched {
					t.Errorf("%d processes, Ended was called %d times", m.launched, ended)
				}
			})
		})
	}
}

// A process that does not read for 2 s is ended.
func TestResidentThatStopsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _, _ := reside(t, nil, greeted((*child).hang))
		k, err := r.wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := k.peer.Notify("event", strings.Repeat("x", 1<<20)); !errors.Is(err, wire.ErrSendTimeout) {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
		after(t, "the write", began, 2*time.Second)
		time.Sleep(time.Second)
		if state, f := r.State(); state != Idle && state != Restarting || f == nil || f.Code != adapters.Timeout {
			t.Errorf("%s, %v", state, f)
		}
	})
}

func TestResidentIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var keep atomic.Bool
		keep.Store(true)
		r, m, s := reside(t, func(o *ResidentOptions) {
			o.Numbers.Idle = 10 * time.Second
			o.Keep = keep.Load
			o.Shutdown = func(why Ending) (string, any) {
				if why != Idling && why != Closing {
					t.Errorf("shut down: %s", why)
				}
				return "shutdown", nil
			}
		}, (*child).serve)
		_, _ = ask(r, "x")
		time.Sleep(9 * time.Second)
		r.Use()
		time.Sleep(9 * time.Second)
		if state, _ := r.State(); state != Ready {
			t.Errorf("used 9 s ago: %s", state)
		}
		time.Sleep(time.Minute)
		if state, _ := r.State(); state != Ready {
			t.Errorf("to be kept: %s", state)
		}
		keep.Store(false)
		s.since()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if diff := cmp.Diff([]State{Stopping, Idle}, s.since()); diff != "" {
			t.Error(diff)
		}
		if _, err := ask(r, "x"); err != nil || m.launched != 2 {
			t.Errorf("the next call: %v, %d launches", err, m.launched)
		}
	})
}

// A resident with a call in flight is not idle, however long the call takes.
func TestResidentIsNotIdleDuringACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _, _ := reside(t, func(o *ResidentOptions) { o.Numbers.Idle = time.Second }, greeted(func(c *child) {
			q := c.read()
			time.Sleep(time.Minute)
			c.reply(q, "1")
			c.serve()
		}))
		if got, err := r.Call(t.Context(), Call{Method: "x", Within: time.Hour}); string(got) != "1" || err != nil {
			t.Errorf("got %s, %v", got, err)
		}
		time.Sleep(6 * time.Second)
		if state, _ := r.State(); state != Idle {
			t.Errorf("after it: %s", state)
		}
	})
}

func TestResidentShutdownLadder(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(c *child)
		want time.Duration
	}{
		"answers and exits":     {(*child).serve, 0},
		"exits at the end":      {func(c *child) { c.read(); _, _ = c.Recv() }, 0},
		"stays until SIGTERM":   {func(c *child) { c.read(); <-c.term }, 5 * time.Second},
		"ignores everything":    {func(c *child) { c.read(); c.hang() }, 7 * time.Second},
		"asks back, then exits": {(*child).askBack, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, m, _ := reside(t, nil, greeted(c.run))
				if _, err := r.wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				r.Close()
				m.alive.Wait()
				after(t, "Close", began, c.want)
			})
		})
	}
}

// askBack asks the host, takes its refusal, and serves until it is shut down.
func (c *child) askBack() {
	c.Send([]byte(`{"jsonrpc":"2.0","id":1,"method":"x"}`))
	if r := c.read(); r.Method != "" { // the shutdown came first
		c.reply(r, "null")
		return
	}
	c.serve()
}

// With Await the host answers requests of the process until it has answered the last request.
func TestResidentAwaitsTheLastAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		answers bool
		want    time.Duration
	}{"answers": {true, 0}, "does not answer": {false, 7 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, m, _ := reside(t, func(o *ResidentOptions) { o.Await = 5 * time.Second }, greeted(func(k *child) {
					last := k.read()
					_ = k.Send([]byte(`{"jsonrpc":"2.0","id":1,"method":"x"}`))
					if refusal, err := k.Recv(); err != nil || !strings.Contains(string(refusal), `"code":-32601`) {
						t.Errorf("after the last request: %s, %v", refusal, err)
					}
					if !c.answers {
						k.hang()
						return
					}
					k.reply(last, "1")
					if _, err := k.Recv(); err != io.EOF {
						t.Errorf("after the answer: %v", err)
					}
				}))
				if _, err := r.wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				r.Close()
				m.alive.Wait()
				after(t, "Close", began, c.want)
			})
		})
	}
}

// Close fails calls in flight and waiting calls with a reason, in every state. No process is left.
func TestResidentIsClosedInEveryState(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(c *child)
		want State
	}{
		"starting":   {func(c *child) { <-c.term }, Starting},
		"ready":      {greeted(func(c *child) { <-c.term }), Ready},
		"restarting": {func(*child) {}, Restarting},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, m, _ := reside(t, nil, c.run)
				var calls sync.WaitGroup
				for range 3 {
					calls.Go(func() {
						if code, message := codeOf(second(ask(r, "x"))); code == "" {
							t.Errorf("no failure: %s", message)
						}
					})
				}
				synctest.Wait()
				if state, _ := r.State(); state != c.want {
					t.Fatalf("%s, want %s", state, c.want)
				}
				r.Close()
				calls.Wait()
				m.alive.Wait()
			})
		})
	}
}

// Calls that arrive during a pause are answered after it.
func TestResidentServesWaitingCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m, _ := reside(t, nil, failing, (*child).serve)
		_, _ = ask(r, "x")
		synctest.Wait()
		began := time.Now()
		var calls sync.WaitGroup
		for range 5 {
			calls.Go(func() {
				if got, err := ask(r, "y"); got != `"y"` || err != nil {
					t.Errorf("got %s, %v", got, err)
				}
			})
		}
		calls.Wait()
		after(t, "they", began, time.Second)
		if m.launched != 2 {
			t.Errorf("%d launches", m.launched)
		}
	})
}

func TestResidentEndAndReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var why []Ending
		r, m, _ := reside(t, func(o *ResidentOptions) {
			o.Shutdown = func(e Ending) (string, any) { why = append(why, e); return "shutdown", nil }
		}, (*child).serve)
		k, _ := r.wait(t.Context())
		r.End(k.peer, adapters.MalformedResponse, "it lies")
		synctest.Wait()
		if state, f := r.State(); state != Restarting || f.Message != "it lies" {
			t.Errorf("%s, %v", state, f)
		}
		r.End(k.peer, adapters.Crashed, "again") // the peer of an older process
		_, _ = ask(r, "x")
		r.Reload()
		if state, f := r.State(); state != Idle || f != nil || m.launched != 2 {
			t.Errorf("%s, %v, %d launches", state, f, m.launched)
		}
		if !slices.Equal(why, []Ending{Reloading}) {
			t.Errorf("shut down: %q", why)
		}
	})
}

// A process without a connection ends after the timeout of the handshake.
func TestResidentWithoutAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m, _ := reside(t, func(o *ResidentOptions) {
			o.Connect = func(ctx context.Context, s *Stream) (*wire.Peer, error) {
				<-ctx.Done()
				return nil, io.ErrNoProgress
			}
		}, (*child).hang)
		began := time.Now()
		if code, message := codeOf(second(ask(r, "x"))); code != adapters.HandshakeFailed || !strings.Contains(message, "multiple Read calls") {
			t.Errorf("got %s %q", code, message)
		}
		after(t, "it", began, 10*time.Second)
		m.alive.Wait()
	})
}
