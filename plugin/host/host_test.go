package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

func TestCallAndClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, m := options((*child).serve)
		p := start(t, o)
		got, err := p.Call(t.Context(), Call{Method: "detect"})
		if string(got) != `"detect"` || err != nil {
			t.Errorf("got %s, %v", got, err)
		}
		began := time.Now()
		p.Close()
		m.alive.Wait()
		if d := time.Since(began); d != 0 {
			t.Errorf("closing an obedient plugin took %v", d)
		}
		if state, f := p.State(); state != Stopped || f != nil {
			t.Errorf("state %v, %v", state, f)
		}
		if code, _ := codeOf(callError(p, Call{Method: "detect"})); code != adapters.Crashed {
			t.Errorf("a call after Close: got code %q", code)
		}
	})
}

func callError(p *Plugin, c Call) error {
	_, err := p.Call(context.Background(), c)
	return err
}

func TestStartFailures(t *testing.T) {
	for name, c := range map[string]struct {
		run     []func(c *child)
		code    adapters.Code
		message string
		after   time.Duration
	}{
		"no program":   {nil, adapters.LaunchFailed, "no such program", 0},
		"silent":       {[]func(c *child){(*child).hang}, adapters.HandshakeFailed, "timed out after 30s: no answer to initialize", 30 * time.Second},
		"exits":        {[]func(c *child){func(c *child) { c.status = "exit status 3" }}, adapters.HandshakeFailed, "it exited (exit status 3)", 0},
		"only reads":   {[]func(c *child){func(c *child) { c.read(); c.hang() }}, adapters.HandshakeFailed, "timed out after 30s: no answer to initialize", 30 * time.Second},
		"noise":        {[]func(c *child){func(c *child) { c.Send([]byte("x")); c.hang() }}, adapters.MalformedResponse, "malformed frame: no JSON at byte 0: expected a value, got \"x\"", 0},
		"answers late": {[]func(c *child){func(c *child) { r := c.read(); time.Sleep(time.Minute); c.reply(r, "1"); c.hang() }}, adapters.HandshakeFailed, "timed out after 30s: no answer to initialize", time.Minute},
		"refuses": {[]func(c *child){func(c *child) {
			c.read()
			c.Send([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"what?"}}`))
			c.hang()
		}}, adapters.HandshakeFailed, "error -32601: what?", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, m := options(c.run...)
				o.Numbers.Wire.Send = time.Hour // a write that nobody reads would fail at the same moment
				began := time.Now()
				p, err := Start(t.Context(), o)
				m.alive.Wait()
				code, message := codeOf(err)
				if p != nil || code != c.code || message != c.message {
					t.Errorf("got %q %q, want %q %q", code, message, c.code, c.message)
				}
				if d := time.Since(began); d != c.after {
					t.Errorf("after %v, want %v", d, c.after)
				}
			})
		})
	}
}

func TestStartIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, m := options(func(c *child) { <-c.term })
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := Start(ctx, o); err != context.Canceled {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
		m.alive.Wait()
	})
}

// A deadline covers the answer, and also the write to a plugin that does not read.
func TestDeadline(t *testing.T) {
	for name, params := range map[string]string{"small": "x", "large": strings.Repeat("x", 1<<20)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, _ := options(greeted((*child).hang))
				p := start(t, o)
				began := time.Now()
				code, message := codeOf(callError(p, Call{Method: "detect", Params: []string{params}}))
				if code != adapters.Timeout {
					t.Errorf("got %q %q, want a timeout", code, message)
				}
				if d := time.Since(began); d != 30*time.Second {
					t.Errorf("after %v, want 30s", d)
				}
				synctest.Wait()
				if state, _ := p.State(); state != Failed {
					t.Errorf("state %v, want %v", state, Failed)
				}
				began = time.Now()
				code, message = codeOf(callError(p, Call{Method: "install"}))
				if code != adapters.Timeout || !strings.HasPrefix(message, "it is not used since") || time.Since(began) != 0 {
					t.Errorf("the next call: got %q %q after %v", code, message, time.Since(began))
				}
			})
		})
	}
}

func TestDeadlineOfTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := options(greeted(func(c *child) {
			r := c.read()
			time.Sleep(29 * time.Minute)
			c.reply(r, "1")
			c.serve()
		}))
		p := start(t, o)
		if err := callError(p, Call{Method: "install", Within: 30 * time.Minute}); err != nil {
			t.Error(err)
		}
	})
}

// exits is a child that reads one request after the handshake and exits.
var exits = greeted(func(c *child) {
	c.read()
	c.status = "exit status 7"
})

func TestRespawnAndQuarantine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, m := options(exits)
		p := start(t, o)
		began := time.Now()
		// The call is sent twice: at once, and after the first pause.
		code, message := codeOf(callError(p, Call{Method: "detect", Dir: "/a"}))
		if code != adapters.Crashed || message != "it exited (exit status 7)" {
			t.Errorf("got %q %q", code, message)
		}
		if d := time.Since(began); d != time.Second {
			t.Errorf("after %v, want 1s", d)
		}
		synctest.Wait()
		if state, f := p.State(); state != Restarting || f == nil {
			t.Errorf("state %v, %v, want %v", state, f, Restarting)
		}
		// The call is sent once, after the second pause. Its exit is the third.
		code, message = codeOf(callError(p, Call{Method: "detect", Dir: "/b"}))
		if code != adapters.Quarantined || !strings.Contains(message, "3 times within 1m0s") {
			t.Errorf("got %q %q", code, message)
		}
		if d := time.Since(began); d != 5*time.Second {
			t.Errorf("after %v, want 5s", d)
		}
		if state, _ := p.State(); state != Quarantined || m.launched != 3 {
			t.Errorf("state %v after %d launches", state, m.launched)
		}
	})
}

func TestQueryIsRepeatedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := options(exits, (*child).serve)
		p := start(t, o)
		got, err := p.Call(t.Context(), Call{Method: "detect"})
		if string(got) != `"detect"` || err != nil {
			t.Errorf("got %s, %v", got, err)
		}
	})
}

func TestInstallIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := options(exits, (*child).serve)
		p := start(t, o)
		began := time.Now()
		if code, _ := codeOf(callError(p, Call{Method: "install", Once: true})); code != adapters.Crashed || time.Since(began) != 0 {
			t.Errorf("got %q after %v", code, time.Since(began))
		}
		if err := callError(p, Call{Method: "install", Once: true}); err != nil {
			t.Errorf("the next one: %v", err)
		}
	})
}

func TestExitsLongAgoDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, m := options(exits)
		p := start(t, o)
		for range 5 {
			if code, _ := codeOf(callError(p, Call{Method: "install", Once: true})); code != adapters.Crashed {
				t.Fatalf("got %q", code)
			}
			time.Sleep(time.Minute)
		}
		if state, _ := p.State(); state != Ready || m.launched != 6 {
			t.Errorf("state %v after %d launches", state, m.launched)
		}
	})
}

func TestBrokenFrameIsFinal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, m := options(greeted(func(c *child) {
			c.read()
			c.Send([]byte("{x}"))
			c.hang()
		}))
		p := start(t, o)
		if code, _ := codeOf(callError(p, Call{Method: "detect"})); code != adapters.MalformedResponse {
			t.Errorf("got %q", code)
		}
		time.Sleep(time.Hour)
		if state, _ := p.State(); state != Failed || m.launched != 1 {
			t.Errorf("state %v after %d launches", state, m.launched)
		}
	})
}

func TestFloodWithoutAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := options(greeted(func(c *child) {
			time.Sleep(time.Second) // the handshake is over by then
			for range 101 {
				c.log("x")
			}
			c.hang()
		}))
		o.Numbers.Wire.Idle = 100
		p := start(t, o)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if state, f := p.State(); state != Failed || f.Code != adapters.MalformedResponse {
			t.Errorf("state %v, %v", state, f)
		}
	})
}

func TestShutdownLadder(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(c *child)
		want time.Duration
	}{
		"answers and stays":   {func(c *child) { c.serve(); <-c.term }, 2 * time.Second},
		"does not answer":     {func(c *child) { <-c.term }, 2 * time.Second},
		"ignores SIGTERM too": {(*child).hang, 4 * time.Second},
		"closes stdout, stays a while": {func(c *child) {
			c.reply(c.read(), "null")
			c.Close()
			time.Sleep(1500 * time.Millisecond)
		}, 1500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, m := options(greeted(c.run))
				p := start(t, o)
				began := time.Now()
				p.Close()
				m.alive.Wait()
				if d := time.Since(began); d != c.want {
					t.Errorf("took %v, want %v", d, c.want)
				}
			})
		})
	}
}

func TestCloseWhileWaitingToRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := options(exits)
		p := start(t, o)
		callError(p, Call{Method: "install", Once: true})
		synctest.Wait()
		began := time.Now()
		p.Close()
		if d := time.Since(began); d != 0 {
			t.Errorf("took %v", d)
		}
	})
}

func TestCallsInFlightEndWithClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := options(greeted(func(c *child) { c.read(); <-c.term }))
		p := start(t, o)
		var err error
		var calls sync.WaitGroup
		calls.Go(func() { err = callError(p, Call{Method: "install", Once: true}) })
		synctest.Wait()
		p.Close()
		calls.Wait()
		if code, _ := codeOf(err); code != adapters.Crashed {
			t.Errorf("got %v", err)
		}
	})
}

func TestCancelledCall(t *testing.T) {
	for name, c := range map[string]struct {
		terms Terms
		run   func(c *child)
		after time.Duration
		left  State
	}{
		"knows $/cancel": {Terms{Cancel: true}, func(c *child) {
			install := c.read()
			if cancel := c.read(); cancel.Method == "$/cancel" && string(cancel.Params) == fmt.Sprintf(`{"id":%s}`, install.ID) {
				c.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32800,"message":"cancelled"}}`, install.ID))
			}
			c.serve()
		}, 0, Ready},
		"says so and does not": {Terms{Cancel: true}, func(c *child) { c.read(); c.read(); <-c.term }, 2 * time.Second, Restarting},
		"does not know it":     {Terms{}, func(c *child) { c.read(); <-c.term }, 0, Restarting},
		"nor SIGTERM":          {Terms{}, func(c *child) { c.read(); c.hang() }, 2 * time.Second, Restarting},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, _ := options(greeted(c.run))
				o.Hello = func(_ context.Context, ask AskFunc) (Terms, error) {
					_, err := ask("initialize", nil)
					return c.terms, err
				}
				p := start(t, o)
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				began := time.Now()
				_, err := p.Call(ctx, Call{Method: "install", Once: true})
				if err != context.Canceled || time.Since(began) != time.Second+c.after {
					t.Errorf("got %v after %v, want %v after the cancellation", err, time.Since(began)-time.Second, c.after)
				}
				synctest.Wait()
				if state, _ := p.State(); state != c.left {
					t.Errorf("state %v, want %v", state, c.left)
				}
			})
		})
	}
}

func TestLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := options(greeted(func(c *child) {
			c.log("early")
			r := c.read()
			for i := range 3 {
				c.log(fmt.Sprint(i))
			}
			c.Send([]byte(`{"jsonrpc":"2.0","method":"notifications/log","params":{"level":"loud","stream":"printer","message":"o\u001b[2Jd\u202ed"}}`))
			c.Send([]byte(`{"jsonrpc":"2.0","method":"notifications/log","params":{"message":7}}`))
			c.reply(r, "null")
			time.Sleep(time.Second)
			c.log("late")
			c.serve()
		}))
		var rest, heard []string
		o.Log = func(l adapters.Log) { rest = append(rest, l.Message) }
		p := start(t, o)
		synctest.Wait()
		if err := callError(p, Call{Method: "install", Log: func(l adapters.Log) {
			heard = append(heard, l.Level+l.Stream+" "+l.Message)
		}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if diff := cmp.Diff([]string{"info 0", "info 1", "info 2", "info o[2Jdd"}, heard); diff != "" {
			t.Errorf("heard by the call (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"early", "late"}, rest); diff != "" {
			t.Errorf("heard by the rest (-want +got):\n%s", diff)
		}
	})
}

// The handshake sets how many calls may be in flight. The default is one.
func TestCallsInFlight(t *testing.T) {
	for want := range 4 {
		synctest.Test(t, func(t *testing.T) {
			most := 0
			o, _ := options(greeted(func(c *child) {
				for left := 12; left > 0; {
					var batch []request
					batch = append(batch, c.read())
					more := make(chan request)
					for range max(want, 1) - 1 {
						go func() { more <- c.read() }()
						batch = append(batch, <-more)
					}
					time.Sleep(time.Second) // no other call may arrive meanwhile
					most = max(most, len(batch))
					for _, r := range batch {
						c.reply(r, "1")
					}
					left -= len(batch)
				}
				c.serve()
			}))
			o.Hello = func(_ context.Context, ask AskFunc) (Terms, error) {
				_, err := ask("initialize", nil)
				return Terms{Parallel: want}, err
			}
			p := start(t, o)
			began := time.Now()
			var calls sync.WaitGroup
			for range 12 {
				calls.Go(func() {
					if err := callError(p, Call{Method: "detect"}); err != nil {
						t.Error(err)
					}
				})
			}
			calls.Wait()
			if d, n := time.Since(began), max(want, 1); d != time.Duration(12/n)*time.Second {
				t.Errorf("12 calls, %d at once: %v", n, d)
			}
		})
	}
}

func TestStderrReachesTheFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := options(greeted(func(c *child) {
			c.read()
			fmt.Fprintf(c.stderr, "panic: no zig\n")
		}))
		var screen bytes.Buffer
		o.Stderr = &screen
		p := start(t, o)
		var f *adapters.Failure
		if !errors.As(callError(p, Call{Method: "install", Once: true, Dir: "/a"}), &f) {
			t.Fatal("no failure")
		}
		want := &adapters.Failure{
			Code: adapters.Crashed, Adapter: "zig", Path: "/bin/bento-adapter-zig", Call: "install", Dir: "/a",
			Message: "it exited (exit status 0)", Stderr: "panic: no zig\n", Hint: hint(adapters.Crashed, "zig", ""),
		}
		if diff := cmp.Diff(want, f); diff != "" {
			t.Errorf("failure (-want +got):\n%s", diff)
		}
		if screen.String() != "panic: no zig\n" {
			t.Errorf("passed on %q", &screen)
		}
	})
}

func TestErrorsOfThePluginAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := options(greeted(func(c *child) {
			r := c.read()
			c.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":2001,"message":"m","data":{"exit_status":1}}}`, r.ID))
			r = c.read()
			c.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"%s","result":1}`, r.ID))
			c.serve()
		}))
		p := start(t, o)
		var rpc *wire.RPCError
		if err := callError(p, Call{Method: "install"}); !errors.As(err, &rpc) || rpc.Code != 2001 || !json.Valid(rpc.Data) {
			t.Errorf("got %v", err)
		}
		if code, message := codeOf(callError(p, Call{Method: "install"})); code != adapters.MalformedResponse {
			t.Errorf("got %q %q", code, message)
		}
		if err := callError(p, Call{Method: "install"}); err != nil {
			t.Errorf("after a bad answer: %v", err)
		}
	})
}
