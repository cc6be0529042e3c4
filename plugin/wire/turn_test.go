package wire

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/creachadair/jrpc2/channel"
)

// piped returns a client over pipes of the system, which can be written to without
// waiting, so that callers read for themselves.
func piped(t *testing.T, o ClientOptions) (*Client, *peer) {
	t.Helper()
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cli := NewClient(outR, inW, o)
	t.Cleanup(func() {
		outW.Close()
		inR.Close()
		cli.Close()
	})
	return cli, &peer{t: t, in: bufio.NewReaderSize(inR, 16<<10), out: outW}
}

// ask asks as plugin/host does: it reads itself if no other goroutine reads.
func (c *Client) ask(method string) (string, error) {
	call, err := c.Prepare(method, nil)
	if err != nil {
		return "", err
	}
	defer call.Drop()
	rest, err := call.Begin()
	if rest != nil { // another goroutine is writing
		err = rest()
	}
	if err != nil {
		return "", err
	}
	if call.Turn() {
		if a, ok := call.Read(); ok {
			return string(a.Result), a.Err
		}
		<-c.Done()
		return "", c.Err()
	}
	select {
	case a := <-call.Answered():
		return string(a.Result), a.Err
	case <-c.Done():
		return "", c.Err()
	}
}

// serve answers each request with its method, after one notification of it. It gets
// so many requests at once.
func (p *peer) serve(atOnce int) {
	for {
		var asked []json.RawMessage
		for range atOnce {
			body, err := readFrame(p.in, Limits{}.withDefaults(), new(part))
			if err != nil {
				return
			}
			asked = append(asked, body)
		}
		for i := len(asked); i > 0; i-- { // the last one first
			var q struct {
				ID     json.RawMessage
				Method string
			}
			if err := json.Unmarshal(asked[i-1], &q); err != nil {
				p.t.Error(err)
			}
			p.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"note","params":{"of":%q}}`, q.Method),
				fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%q}`, q.ID, q.Method))
		}
	}
}

// Every caller gets its own answer, and every notification comes before its response,
// whichever goroutine reads.
func TestWhoeverWaitsReads(t *testing.T) {
	for _, atOnce := range []int{1, 2, 8} {
		t.Run(fmt.Sprint(atOnce), func(t *testing.T) {
			var noted sync.Map
			var notes atomic.Int64
			cli, p := piped(t, ClientOptions{Notify: func(_ string, params json.RawMessage) {
				var note struct{ Of string }
				if err := json.Unmarshal(params, &note); err != nil {
					t.Error(err)
				}
				noted.Store(note.Of, true)
				notes.Add(1)
			}})
			go p.serve(atOnce)
			var asking sync.WaitGroup
			for n := range atOnce {
				asking.Go(func() {
					for i := range 300 {
						method := fmt.Sprintf("m%d.%d", n, i)
						got, err := cli.ask(method)
						if want := fmt.Sprintf("%q", method); got != want || err != nil {
							t.Errorf("got %s, %v, want %s", got, err, want)
							return
						}
						if _, ok := noted.Load(method); !ok {
							t.Errorf("%s: answered before it was told of", method)
						}
					}
				})
			}
			asking.Wait()
			if n := notes.Load(); n != int64(300*atOnce) {
				t.Errorf("%d notifications, want %d", n, 300*atOnce)
			}
		})
	}
}

// Messages without a request are read too, and so is the end.
func TestSomebodyReadsWhenNobodyAsks(t *testing.T) {
	heard := make(chan string, 1)
	cli, p := piped(t, ClientOptions{Notify: func(method string, _ json.RawMessage) { heard <- method }})
	for range 3 {
		go func() { p.write(p.answer(p.read())) }()
		if _, err := cli.ask("m"); err != nil {
			t.Fatal(err)
		}
		p.write(`{"jsonrpc":"2.0","method":"later"}`)
		if got := <-heard; got != "later" {
			t.Errorf("heard %s", got)
		}
	}
	p.out.Close()
	if <-cli.Done(); cli.Err() != io.EOF {
		t.Errorf("got %v, want %v", cli.Err(), io.EOF)
	}
}

// answer returns the response to a request.
func (p *peer) answer(request string) string {
	var q struct{ ID json.RawMessage }
	if err := json.Unmarshal([]byte(request), &q); err != nil {
		p.t.Error(err)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":null}`, q.ID)
}

// Close ends the wait of those that read, and of those that do not.
func TestCloseEndsReading(t *testing.T) {
	for range 50 {
		cli, p := piped(t, ClientOptions{})
		var asking sync.WaitGroup
		for range 4 {
			asking.Go(func() {
				if _, err := cli.ask("m"); !errors.Is(err, channel.ErrClosed) {
					t.Errorf("got %v, want %v", err, channel.ErrClosed)
				}
			})
		}
		p.read()
		cli.Close()
		asking.Wait()
	}
}

// A request that does not fit into the pipe leaves a rest, which others wait for.
func TestBegin(t *testing.T) {
	cli, p := piped(t, ClientOptions{})
	large, err := cli.Prepare("large", strings.Repeat("x", 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	rest, err := large.Begin()
	if rest == nil || err != nil {
		t.Fatalf("nothing of 1 MiB has to wait, %v", err)
	}
	small, err := cli.Prepare("small", nil)
	if err != nil {
		t.Fatal(err)
	}
	after, err := small.Begin()
	if after == nil || err != nil {
		t.Fatalf("a frame in the middle of another, %v", err)
	}
	var writing sync.WaitGroup
	for _, write := range []func() error{rest, after} {
		writing.Go(func() {
			if err := write(); err != nil {
				t.Error(err)
			}
		})
	}
	if got := p.read(); len(got) < 1<<20 || !strings.Contains(got, `"large"`) {
		t.Errorf("first came %.60s", got)
	}
	if got := p.read(); !strings.Contains(got, `"small"`) {
		t.Errorf("then came %.60s", got)
	}
	writing.Wait()
	p.in = nil
	cli.Close()
	if _, err := cli.ask("late"); !errors.Is(err, channel.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
