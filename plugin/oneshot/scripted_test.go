package oneshot

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/host"
)

// actor is a tool in memory that takes exactly the time of its script.
type actor struct {
	in       *bufio.Reader
	out      *io.PipeWriter
	killed   chan struct{}
	launch   time.Duration // how long its start takes
	immortal chan struct{} // its end waits for this; nil for nothing
	status   string        // "": exit status 0
	kills    int
	saw      []string // the lines that it received
}

// read returns the next line, or "" at the end.
func (a *actor) read() string {
	text, err := a.in.ReadString('\n')
	if err != nil {
		return ""
	}
	a.saw = append(a.saw, text)
	return text
}

func (a *actor) say(text string) { io.WriteString(a.out, text+"\n") }

// greet answers the handshake and returns the request.
func (a *actor) greet() call {
	a.read()
	a.say(`{"type":"handshake","manifest":{"plugin_id":"acme.fmt","plugin_version":"1","protocol_version":"rterm.plugin.v1","exposed_tools":["check"]}}`)
	var c call
	_ = json.Unmarshal([]byte(a.read()), &c)
	return c
}

func (a *actor) ok(c call) {
	a.say(fmt.Sprintf(`{"type":"response","request_id":%q,"status":"ok","output":{"n":1}}`, c.ID))
}

// serve runs a good tool.
func (a *actor) serve() { a.ok(a.greet()) }

// hang waits until it is killed.
func (a *actor) hang() { <-a.killed }

// sleep waits for d, or until it is killed.
func (a *actor) sleep(d time.Duration) {
	select {
	case <-time.After(d):
	case <-a.killed:
	}
}

// stage launches one actor.
type stage struct {
	*actor
	play func(*actor)
	err  error
}

func (s *stage) Launch(context.Context, io.Writer) (*host.Stream, error) {
	time.Sleep(s.launch)
	if s.err != nil {
		return nil, s.err
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	s.in, s.out = bufio.NewReader(inR), outW
	exited, once := make(chan struct{}), sync.Once{}
	go func() {
		s.play(s.actor)
		if s.immortal != nil {
			<-s.immortal
		}
		inR.Close()
		outW.Close()
		close(exited)
	}()
	return &host.Stream{
		Stdin: inW, Stdout: outR, Pid: 7, Exited: exited,
		End: func(bool) { once.Do(func() { s.kills++; close(s.killed); inR.Close(); outW.Close() }) },
		Wait: func() string {
			<-exited
			if s.status == "" {
				return "exit status 0"
			}
			return s.status
		},
	}, nil
}

// performance is one call of an actor.
type performance struct {
	t      *testing.T
	o      Options
	stage  *stage
	ctx    context.Context
	audit  host.Audit
	answer adapters.ToolAnswer
	err    error
	took   time.Duration
}

func perform(t *testing.T, play func(*actor), changes ...func(*performance)) *performance {
	p := &performance{t: t, o: Options{ID: "acme.fmt"}, ctx: t.Context(), stage: &stage{actor: &actor{killed: make(chan struct{})}, play: play}}
	for _, change := range changes {
		change(p)
	}
	p.o.Launcher, p.o.Audit = p.stage, func(a host.Audit) { p.audit = a }
	tool, err := Open(p.o)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	p.answer, p.err = tool.Call(p.ctx, adapters.ToolCall{Function: "check"})
	p.took = time.Since(began)
	return p
}

// wants checks the code, the message and the time of a failure.
func (p *performance) wants(code adapters.Code, took time.Duration, says string) {
	p.t.Helper()
	var f *adapters.Failure
	if !errors.As(p.err, &f) || f.Code != code || !strings.Contains(f.Message, says) || f.Cause == nil || f.Adapter != "acme.fmt" {
		p.t.Errorf("got %v, want %q %q", p.err, code, says)
	}
	if p.took != took || p.audit.Took != took || p.audit.Outcome != string(code) {
		p.t.Errorf("took %v, want %v; audit %+v", p.took, took, p.audit)
	}
}

// TestDeadlines: each deadline ends the call in time, with the code of that deadline.
func TestDeadlines(t *testing.T) {
	slow := func(d time.Duration) func(*performance) { return func(p *performance) { p.stage.launch = d } }
	with := func(change func(o *Options)) func(*performance) { return func(p *performance) { change(&p.o) } }
	hang, ms := (*actor).hang, time.Millisecond
	for name, c := range map[string]struct {
		play   func(*actor)
		change func(*performance)
		code   adapters.Code
		took   time.Duration
		says   string
	}{
		"the default of the handshake":  {hang, nil, adapters.Timeout, 2000 * ms, "timed out after 2s without the answer to the handshake"},
		"a negative one is the default": {hang, with(func(o *Options) { o.Handshake, o.Launch, o.Timeout, o.Teardown = -1, -1, -1, -1 }), adapters.Timeout, 2000 * ms, "2s"},
		"a shorter handshake":           {hang, with(func(o *Options) { o.Handshake = 50 * ms }), adapters.Timeout, 50 * ms, "50ms"},
		"a handshake beyond the call":   {hang, with(func(o *Options) { o.Timeout = 50 * ms }), adapters.Timeout, 50 * ms, "timed out after 50ms"},
		"a slow handshake is in time":   {func(a *actor) { a.sleep(1900 * ms); a.greet(); a.hang() }, nil, adapters.Timeout, 5000 * ms, "timed out after 5s without the response"},
		"half a line":                   {func(a *actor) { a.read(); io.WriteString(a.out, `{"type":"hand`); a.hang() }, nil, adapters.Timeout, 2000 * ms, "it wrote 13 bytes without the end of that line"},
		"the default of the call":       {func(a *actor) { a.greet(); a.hang() }, nil, adapters.Timeout, 5000 * ms, "timed out after 5s"},
		"the end of the call":           {func(a *actor) { a.greet(); a.sleep(5000 * ms); a.out.Close(); a.hang() }, nil, adapters.Timeout, 5000 * ms, "timed out after 5s"},
		"a response at the deadline":    {func(a *actor) { c := a.greet(); a.sleep(5000 * ms); a.ok(c) }, nil, adapters.Timeout, 5000 * ms, "timed out after 5s"},
		"a handshake at its deadline":   {func(a *actor) { a.sleep(2000 * ms); a.greet(); a.hang() }, nil, adapters.Timeout, 2000 * ms, "2s"},
		"the default of the teardown":   {func(a *actor) { a.serve(); a.hang() }, nil, adapters.Crashed, 500 * ms, "still ran 500ms later"},
		"a shorter teardown":            {func(a *actor) { a.serve(); a.hang() }, with(func(o *Options) { o.Teardown = ms }), adapters.Crashed, ms, "1ms"},
		"the call ends in the teardown": {func(a *actor) { c := a.greet(); a.sleep(900 * ms); a.ok(c); a.hang() }, with(func(o *Options) { o.Timeout = 1000 * ms }), adapters.Timeout, 1000 * ms, "did not exit"},
		"a slow launch":                 {(*actor).serve, slow(2001 * ms), adapters.LaunchFailed, 2001 * ms, "not started within 2s"},
		"a launch beyond the call":      {(*actor).serve, func(p *performance) { slow(150 * ms)(p); p.o.Timeout = 100 * ms }, adapters.Timeout, 150 * ms, "timed out after 100ms"},
		"own errors come too late": {func(a *actor) {
			c := a.greet()
			a.sleep(5000 * ms)
			a.say(`{"type":"response","request_id":"` + c.ID + `","status":"error","error":{"message":"m"}}`)
		}, nil, adapters.Timeout, 5000 * ms, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				change := c.change
				if change == nil {
					change = func(*performance) {}
				}
				perform(t, c.play, change).wants(c.code, c.took, c.says)
			})
		})
	}
}

// TestHappyPath: the output is returned unchanged, and the audit has the phases.
func TestHappyPath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := perform(t, func(a *actor) {
			a.sleep(2 * time.Second / 2)
			c := a.greet()
			a.sleep(3 * time.Second)
			a.ok(c)
			a.sleep(100 * time.Millisecond)
		}, func(p *performance) { p.stage.launch = 200 * time.Millisecond })
		if p.err != nil || p.answer.Output != `{"n":1}` {
			t.Errorf("got %+v, %v", p.answer, p.err)
		}
		want := host.Audit{
			Contract: Protocol, ID: "acme.fmt", Function: "check", Request: p.audit.Request, Pid: 7, Outcome: "ok",
			Launch: 200 * time.Millisecond, Handshake: time.Second, Answer: 3 * time.Second, Exit: 100 * time.Millisecond,
			Took: 4300 * time.Millisecond, Sent: int64(len(strings.Join(p.stage.saw, ""))), Received: p.audit.Received,
		}
		if p.audit != want || p.audit.Received < 200 {
			t.Errorf("audit %+v, want %+v", p.audit, want)
		}
		if p.stage.kills != 0 {
			t.Error("a good tool was killed")
		}
	})
}

// TestRequestLine: a tool receives exactly these two lines.
func TestRequestLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := perform(t, (*actor).serve)
		want := `{"type":"handshake","protocol_version":"rterm.plugin.v1"}` + "\n" +
			`{"type":"request","request_id":"` + p.audit.Request + `","tool_name":"check","context":{},"input":{}}` + "\n"
		if got := strings.Join(p.stage.saw, ""); got != want {
			t.Errorf("sent %s, want %s", got, want)
		}
		if id := strings.TrimPrefix(p.audit.Request, "plugin_req_"); len(id) != 16 || strings.Trim(id, "0123456789abcdef") != "" {
			t.Errorf("request id %q", p.audit.Request)
		}
	})
}

// TestNoRequestAfterARefusal: a refused tool receives only the handshake, and is killed.
func TestNoRequestAfterARefusal(t *testing.T) {
	for _, text := range []string{`{"type":"handshake","manifest":{}}`, "x", `{"type":"response"}`} {
		synctest.Test(t, func(t *testing.T) {
			p := perform(t, func(a *actor) { a.read(); a.say(text); a.read(); a.hang() })
			synctest.Wait()
			if len(p.stage.saw) != 1 || p.stage.kills != 1 || p.err == nil {
				t.Errorf("%s: saw %q, killed %d times, %v", text, p.stage.saw, p.stage.kills, p.err)
			}
		})
	}
}

// TestCancel: a cancelled context ends a call at once in each phase, with the error of the context, and
// kills the process.
func TestCancel(t *testing.T) {
	for name, play := range map[string]func(*actor){
		"handshake": (*actor).hang,
		"answer":    func(a *actor) { a.greet(); a.hang() },
		"exit":      func(a *actor) { c := a.greet(); a.sleep(900 * time.Millisecond); a.ok(c); a.hang() },
		"unread":    func(a *actor) { a.hang() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				p := perform(t, play, func(p *performance) { p.ctx = ctx })
				if p.err != context.Canceled || p.took != time.Second || p.stage.kills != 1 || p.audit.Outcome != "canceled" {
					t.Errorf("got %v after %v, killed %d times, audit %+v", p.err, p.took, p.stage.kills, p.audit)
				}
			})
		})
	}
	t.Run("before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		p := perform(t, (*actor).serve, func(p *performance) { p.ctx = ctx })
		if p.err != context.Canceled || p.stage.in != nil {
			t.Errorf("got %v, launched %v", p.err, p.stage.in != nil)
		}
	})
}

// TestCancelledLaunch: if a launch returns a process after the end of its call, the process is killed.
func TestCancelledLaunch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := perform(t, (*actor).hang, func(p *performance) { p.stage.launch = time.Hour })
		p.wants(adapters.LaunchFailed, 4*time.Second, "not started")
		time.Sleep(time.Hour)
		synctest.Wait()
		if p.stage.kills != 1 {
			t.Errorf("killed %d times", p.stage.kills)
		}
	})
}

// TestImmortal: the call waits 2 s for a process that SIGKILL does not end.
func TestImmortal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p := perform(t, (*actor).hang, func(p *performance) { p.stage.immortal = release })
		p.wants(adapters.Timeout, 4*time.Second, "2s")
		close(release)
	})
}

// TestLaunchErrors: a failed launch has its code and its cause.
func TestLaunchErrors(t *testing.T) {
	cause := errors.New("no such program")
	for err, code := range map[error]adapters.Code{
		cause: adapters.LaunchFailed,
		&adapters.Failure{Code: adapters.NotTrusted, Message: "no such program", Cause: cause}: adapters.NotTrusted,
	} {
		p := perform(t, nil, func(p *performance) { p.stage.err = err })
		var f *adapters.Failure
		if !errors.As(p.err, &f) || f.Code != code || f.Message != "no such program" || !errors.Is(f, cause) {
			t.Errorf("got %+v, want code %q", p.err, code)
		}
	}
}

// TestLateLine: a line that is read after its deadline is too late, even if the deadline is noticed later
// than the line.
func TestLateLine(t *testing.T) {
	tool, err := Open(Options{ID: "acme.fmt", Launcher: &stage{}})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		r := newRun(tool, "check", nil)
		r.in.came <- line{text: []byte("{}")}
		text, err := r.await(t.Context(), nil, awaited{"the response", time.Now(), time.Second})
		var f *fault
		if text != nil || !errors.As(err, &f) || f.code != adapters.Timeout {
			t.Fatalf("got %s, %v", text, err)
		}
	}
}
