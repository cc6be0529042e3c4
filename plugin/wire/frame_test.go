package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func read(text string) ([]byte, error) {
	l := Limits{}.withDefaults()
	return readFrame(bufio.NewReaderSize(strings.NewReader(text), l.Header+1), l, new(part))
}

func TestFramesAccepted(t *testing.T) {
	for _, text := range []string{
		"Content-Length: 2\r\n\r\n{}",
		"content-LENGTH:2\n\n{}",
		"Content-Length : 2\r\n\r\n{}",
		"Content-Length: 02\r\n\r\n{}",
		"X-Foo: y\r\nContent-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\n\r\n{}",
		"X-Foo: " + strings.Repeat("y", 8<<10-len("X-Foo: \r\nContent-Length: 2\r\n\r\n")) + "\r\nContent-Length: 2\r\n\r\n{}",
	} {
		body, err := read(text)
		if string(body) != "{}" || err != nil {
			t.Errorf("frame %.60q: got %q, %v, want {}", text, body, err)
		}
	}
}

func TestFramesRefused(t *testing.T) {
	for text, want := range map[string]error{
		"":                                                 io.EOF,
		"Content-Le":                                       io.ErrUnexpectedEOF,
		"Content-Length: 2\r\n":                            io.ErrUnexpectedEOF,
		"Content-Length: 2\r\n\r\n":                        io.ErrUnexpectedEOF,
		"Content-Length: 2\r\n\r\n{":                       io.ErrUnexpectedEOF,
		"Content-Length: +2\r\n\r\n{}":                     ErrMalformed,
		"Content-Length: -2\r\n\r\n{}":                     ErrMalformed,
		"Content-Length: 0x2\r\n\r\n{}":                    ErrMalformed,
		"Content-Length: 2.0\r\n\r\n{}":                    ErrMalformed,
		"Content-Length: 1_0\r\n\r\n{}":                    ErrMalformed,
		"Content-Length: ٢\r\n\r\n{}":                      ErrMalformed,
		"Content-Length:\r\n\r\n{}":                        ErrMalformed,
		"Content-Length: 16777217\r\n\r\n{}":               ErrMalformed,
		"Content-Length: 9223372036854775807\r\n\r\n":      ErrMalformed,
		"Content-Length: 99999999999999999999\r\n\r\n":     ErrMalformed,
		"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}": ErrMalformed,
		"\r\nContent-Length: 2\r\n\r\n{}":                  ErrMalformed,
		"X-Foo: y\r\n\r\n{}":                               ErrMalformed,
		`{"jsonrpc":"2.0"}` + "\n\n":                       ErrMalformed,
		": 2\r\n\r\n{}":                                    ErrMalformed,
		"hello world: x\r\n\r\n{}":                         ErrMalformed,
		"hello world\r\n\r\n{}":                            ErrMalformed,
		"\x00\x00\x00\r\n\r\n":                             ErrMalformed,
		"X-Foo: " + strings.Repeat("y", 8<<10) + "\r\nContent-Length: 2\r\n\r\n{}": ErrMalformed,
		strings.Repeat("X: y\r\n", 2<<10) + "Content-Length: 2\r\n\r\n{}":          ErrMalformed,
	} {
		if body, err := read(text); !errors.Is(err, want) || body != nil {
			t.Errorf("frame %.60q: got %q, %v, want error %v", text, body, err, want)
		}
	}
}

func TestEndlessHeaderIsRefused(t *testing.T) {
	for _, unit := range []string{"a", "a: b\n"} {
		endless := bufio.NewReaderSize(&repeat{unit: unit}, 16<<10)
		if _, err := readFrame(endless, Limits{}.withDefaults(), new(part)); !errors.Is(err, ErrMalformed) {
			t.Errorf("endless %q: got %v, want %v", unit, err, ErrMalformed)
		}
	}
}

type repeat struct {
	unit string
	n    int
}

func (r *repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.unit[r.n%len(r.unit)]
		r.n++
	}
	return len(p), nil
}

// An announced size of 16 MiB must not cause an allocation before the bytes arrive.
func TestBufferGrowsWithWhatArrives(t *testing.T) {
	text := fmt.Sprintf("Content-Length: %d\r\n\r\n{}", 16<<20)
	perRun := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			read(text)
		}
	}).AllocedBytesPerOp()
	if perRun > 256<<10 {
		t.Errorf("reading a frame of 2 bytes that promised 16 MiB allocates %d bytes", perRun)
	}
}

func TestBodyInPieces(t *testing.T) {
	text := "Content-Length: 4\r\n\r\nnullContent-Length: 2\r\n\r\n{}"
	br := bufio.NewReaderSize(iotest.OneByteReader(strings.NewReader(text)), 16<<10)
	l := Limits{}.withDefaults()
	for _, want := range []string{"null", "{}"} {
		if got, err := readFrame(br, l, new(part)); string(got) != want || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if _, err := readFrame(br, l, new(part)); err != io.EOF {
		t.Errorf("at the end: got %v, want EOF", err)
	}
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n{}"))
	f.Add([]byte("a:b\ncontent-length:3\n\n123Content-Length: 99\r\n\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		l := Limits{Header: 64, Body: 128}.withDefaults()
		br := bufio.NewReaderSize(strings.NewReader(string(text)), 65)
		for {
			body, err := readFrame(br, l, new(part))
			if err != nil {
				if err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, ErrMalformed) {
					t.Fatalf("unexpected error %v", err)
				}
				return
			}
			if len(body) > l.Body {
				t.Fatalf("a body of %d bytes", len(body))
			}
			again, err := readFrame(bufio.NewReaderSize(strings.NewReader(string(appendFrame(nil, body))), 65), l, new(part))
			if err != nil || string(again) != string(body) {
				t.Fatalf("a frame of %q reads as %q, %v", body, again, err)
			}
		}
	})
}
