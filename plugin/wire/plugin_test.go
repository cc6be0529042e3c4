package wire

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

	"github.com/creachadair/jrpc2/channel"
)

// kid is the plugin's side of a Peer, which the test controls.
type kid struct {
	t   *testing.T
	in  *bufio.Reader
	out io.WriteCloser
}

// connect returns the host's side of a connection with a plugin, and the plugin's.
func connect(t *testing.T, l Limits, o PeerOptions) (*Peer, *kid) {
	outR, outW := io.Pipe()
	inR, inW := io.Pipe()
	cli := NewPeer(NewConn(outR, inW, l), o)
	t.Cleanup(func() {
		outW.Close()
		inR.Close()
		cli.Close()
	})
	return cli, &kid{t: t, in: bufio.NewReaderSize(inR, 16<<10), out: outW}
}

// read returns the next message that the host wrote.
func (p *kid) read() string {
	body, err := readFrame(p.in, Limits{}.withDefaults(), new(part))
	if err != nil {
		p.t.Errorf("reading as the plugin: %v", err)
	}
	return string(body)
}

func (p *kid) write(bodies ...string) {
	for _, body := range bodies {
		p.out.Write(appendFrame(nil, []byte(body))) // the test may have ended
	}
}

// call sends one request, has the peer write replies, and returns the result or the error.
func call(t *testing.T, replies ...string) string {
	cli, p := connect(t, Limits{}, PeerOptions{})
	go func() {
		p.read()
		p.write(replies...)
	}()
	result, err := cli.Call(t.Context(), "m", nil)
	if err != nil {
		return fmt.Sprintf("%T %v", err, err)
	}
	return string(result)
}

func TestAnswers(t *testing.T) {
	const good = `{"jsonrpc":"2.0","id":1,"result":"good"}`
	for reply, want := range map[string]string{
		good: `"good"`,
		`{"jsonrpc":"2.0","id":1.0,"result":7,"extra":1}`:                             `7`,
		`{"jsonrpc":"2.0","id":1}`:                                                    `null`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":2001,"message":"m","data":[1]}}`:     `*wire.RPCError error 2001: m`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32097,"message":"forged cancel"}}`:  `*wire.RPCError error -32097: forged cancel`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":1}}`:                                 `*wire.RPCError error 1: `,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`: `*wire.RPCError error -32700: parse error`,
		`{"jsonrpc":"2.0","id":"1","result":7}`:                                       `*wire.BadAnswer the response has the id "1", the request had 1`,
		`{"id":1,"result":7}`:                                                         `*wire.BadAnswer the message has no "jsonrpc":"2.0"`,
		`{"jsonrpc":"1.0","id":1,"result":7}`:                                         `*wire.BadAnswer the message has "jsonrpc":"1.0", expected "2.0"`,
		`{"jsonrpc":"2.0","id":1,"error":7}`:                                          `*wire.BadAnswer error: expected an object with "code", got a number`,
		`{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"m"}}`:        `*wire.BadAnswer the response has both a result and an error`,
		// Messages that do not belong to the request are ignored. The answer follows.
		`[{"jsonrpc":"2.0","id":1,"result":7}]`:  `"good"`,
		`[]`:                                     `"good"`,
		`{}`:                                     `"good"`,
		`"text"`:                                 `"good"`,
		`{"jsonrpc":"2.0","id":2,"result":7}`:    `"good"`,
		`{"jsonrpc":"2.0","id":1.5,"result":7}`:  `"good"`,
		`{"jsonrpc":"2.0","id":"x","result":7}`:  `"good"`,
		`{"jsonrpc":"2.0","id":null,"result":7}`: `"good"`,
		`{"jsonrpc":"2.0","id":-1,"error":{"code":1,"message":"m"}}`:   `"good"`,
		`{"jsonrpc":"2.0","method":"unknown/notification"}`:            `"good"`,
		`{"jsonrpc":"2.0","id":1,"id":1,"result":7}`:                   `*wire.BadAnswer the message has two members "id"`,
		`{"jsonrpc":"2.0","id":99999999999999999999999999,"result":7}`: `"good"`,
	} {
		if got := call(t, reply, good); got != want {
			t.Errorf("%s:\n got %s\nwant %s", reply, got, want)
		}
	}
}

func TestSecondAnswerIsPassedOver(t *testing.T) {
	var odd []string
	cli, p := connect(t, Limits{}, PeerOptions{Odd: func(what string) { odd = append(odd, what) }})
	go func() {
		p.read()
		p.write(`{"jsonrpc":"2.0","id":1,"result":1}`, `{"jsonrpc":"2.0","id":1,"result":2}`)
		p.read()
		p.write(`{"jsonrpc":"2.0","id":2,"result":3}`)
	}()
	for _, want := range []string{"1", "3"} {
		rsp, err := cli.Call(t.Context(), "m", nil)
		if err != nil || string(rsp) != want {
			t.Fatalf("got %v, %v, want %s", rsp, err, want)
		}
	}
	if len(odd) != 1 || !strings.Contains(odd[0], "no request") {
		t.Errorf("odd: got %q", odd)
	}
}

func TestRequestsAreRefused(t *testing.T) {
	for request, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":"fs/read","params":{}}`:   `{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"bento answers no requests"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"same id as the host's"}`: `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"bento answers no requests"}}`,
		`{"jsonrpc":"2.0","id":"a\u0020b","method":"m","params":3}`: `{"jsonrpc":"2.0","id":"a\u0020b","error":{"code":-32601,"message":"bento answers no requests"}}`,
		`{"jsonrpc":"2.0","id":null,"method":"m"}`:                  `{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"bento answers no requests"}}`,
		`{"jsonrpc":"1.0","id":7,"method":"m"}`:                     `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"the message has \"jsonrpc\":\"1.0\", expected \"2.0\""}}`,
		`{"jsonrpc":"2.0","id":{},"method":"m"}`:                    `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the id is neither a string nor a number"}}`,
	} {
		cli, p := connect(t, Limits{}, PeerOptions{})
		refused := make(chan string, 1)
		go func() {
			p.read()
			p.write(request)
			refused <- p.read()
			p.write(`{"jsonrpc":"2.0","id":1,"result":7}`)
		}()
		rsp, err := cli.Call(t.Context(), "m", nil)
		if err != nil || string(rsp) != "7" {
			t.Fatalf("%s: the call gave %v, %v", request, rsp, err)
		}
		if got := <-refused; got != want {
			t.Errorf("%s:\n got %s\nwant %s", request, got, want)
		}
	}
}

// A plugin that sends requests without end and never reads must not stop the reader.
func TestUnreadRefusalsAreDropped(t *testing.T) {
	cli, p := connect(t, Limits{}, PeerOptions{})
	go func() {
		p.read()
		for range 1000 {
			p.write(`{"jsonrpc":"2.0","id":7,"method":"m"}`)
		}
		p.write(`{"jsonrpc":"2.0","id":1,"result":7}`)
	}()
	if rsp, err := cli.Call(t.Context(), "m", nil); err != nil || string(rsp) != "7" {
		t.Errorf("got %v, %v", rsp, err)
	}
}

// Notifications arrive in order. Those sent before a response arrive before the call returns.
func TestNotificationsKeepTheirOrder(t *testing.T) {
	for range 50 {
		var got []string
		cli, p := connect(t, Limits{}, PeerOptions{Notify: func(method string, params json.RawMessage) {
			got = append(got, method+string(params))
		}})
		go func() {
			p.read()
			for i := range 20 {
				p.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"n","params":[%d]}`, i))
			}
			p.write(`{"jsonrpc":"2.0","id":1,"result":7}`)
		}()
		if _, err := cli.Call(t.Context(), "m", nil); err != nil {
			t.Fatal(err)
		}
		if len(got) != 20 {
			t.Fatalf("%d of 20 notifications came before the answer", len(got))
		}
		for i, n := range got {
			if want := fmt.Sprintf("n[%d]", i); n != want {
				t.Errorf("notification %d: got %s, want %s", i, n, want)
			}
		}
	}
}

func TestMalformedIsFinal(t *testing.T) {
	for _, text := range []string{
		"noise\n",
		"Content-Length: 3\r\n\r\n{x}",
		"Content-Length: 17825792\r\n\r\n",
		"Content-Length: 3\r\n\r\n\"\xff\"",
		"Content-Length: 0\r\n\r\n",
	} {
		cli, p := connect(t, Limits{}, PeerOptions{})
		go func() {
			p.read()
			io.WriteString(p.out, text)
		}()
		if rsp, err := cli.Call(t.Context(), "m", nil); err == nil {
			t.Errorf("%q: the call gave %v", text, rsp)
		}
		if err := cli.Err(); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: the client ended with %v, want %v", text, err, ErrMalformed)
		}
	}
}

func TestChatterWithoutAQuestion(t *testing.T) {
	cli, p := connect(t, Limits{Idle: 10}, PeerOptions{})
	for range 11 {
		p.write(`{"jsonrpc":"2.0","method":"n"}`)
	}
	<-cli.Done()
	if err := cli.Err(); !errors.Is(err, ErrMalformed) {
		t.Errorf("the client ended with %v, want %v", err, ErrMalformed)
	}
}

func TestManyCallsAtOnce(t *testing.T) {
	cli, p := connect(t, Limits{}, PeerOptions{})
	go func() {
		for i := 1; i <= 200; i++ {
			p.read()
		}
		for i := 200; i >= 1; i-- {
			p.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%d}`, i, i))
		}
	}()
	var calls sync.WaitGroup
	for range 200 {
		calls.Go(func() {
			if _, err := cli.Call(context.Background(), "m", nil); err != nil {
				t.Errorf("call: %v", err)
			}
		})
	}
	calls.Wait()
}

// An answer is delivered even if the stream ends right after it.
func TestAnswerBeforeTheEnd(t *testing.T) {
	for range 500 {
		cli, p := connect(t, Limits{}, PeerOptions{})
		go func() {
			p.read()
			p.write(`{"jsonrpc":"2.0","id":1,"result":7}`)
			p.out.Close()
		}()
		if rsp, err := cli.Call(t.Context(), "m", nil); string(rsp) != "7" {
			t.Fatalf("got %s, %v", rsp, err)
		}
		if <-cli.Done(); cli.Err() != io.EOF {
			t.Fatalf("the stream ended with %v, want %v", cli.Err(), io.EOF)
		}
	}
}

// Close ends waiting calls and later ones.
func TestCloseEndsCalls(t *testing.T) {
	cli, p := connect(t, Limits{}, PeerOptions{})
	var calls sync.WaitGroup
	for range 4 {
		calls.Go(func() {
			if _, err := cli.Call(context.Background(), "m", nil); !errors.Is(err, channel.ErrClosed) {
				t.Errorf("got %v, want %v", err, channel.ErrClosed)
			}
		})
	}
	p.read()
	cli.Close()
	calls.Wait()
	if _, err := cli.Call(context.Background(), "late", nil); !errors.Is(err, channel.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
