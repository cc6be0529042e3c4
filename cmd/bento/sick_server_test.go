//go:build linux

package main

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// sickServers are servers by what they do with a connection.
var sickServers = map[string]func(net.Conn){
	"silent":  func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
	"closing": func(c net.Conn) { c.Close() },
	"resets": func(c net.Conn) {
		_ = c.(*net.TCPConn).SetLinger(0)
		c.Close()
	},
	"500":     func(c net.Conn) { reply(c, "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 2\r\n\r\nno") },
	"429":     func(c net.Conn) { reply(c, "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n") },
	"401":     func(c net.Conn) { reply(c, "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n") },
	"garbage": func(c net.Conn) { reply(c, "SSH-2.0-OpenSSH_9.2\r\n") },
	"lies":    func(c net.Conn) { reply(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nthere") },
	"breaks":  func(c net.Conn) { reply(c, "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nthere") },
}

// reply answers a request with a text and closes the connection.
func reply(c net.Conn, text string) {
	defer c.Close()
	if _, err := c.Read(make([]byte, 4096)); err == nil {
		_, _ = io.WriteString(c, text)
	}
}

// TestSickServers: whatever a server does, a run has the outcome, the outputs and the exit code that it has without, and
// no more than one warning.
func TestSickServers(t *testing.T) {
	t.Parallel()
	bento := builtBento(t)
	for name, serve := range sickServers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					go serve(c)
				}
			}()
			sick(t, bento, "http://"+l.Addr().String())
			sick(t, bento, "grpc://"+l.Addr().String())
		})
	}
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l.Close() // nothing listens there now
		sick(t, bento, "http://"+l.Addr().String())
	})
}

func sick(t *testing.T, bento, url string) {
	t.Helper()
	w := newWorld(t, bento)
	files := map[string]string{"bento.toml": "[cache]\nremote_trust = \"server\"\n"}
	for i := range 6 {
		files[fmt.Sprintf("d%d/dish.toml", i)] = "language = \"none\"\n[tasks.build]\nrun = \"cat src >out\"\noutputs = [\"out\"]\n[tasks.check]\nrun = \"exit 7\"\n"
		files[fmt.Sprintf("d%d/src", i)] = "source\n"
	}
	w.write(files)
	w.env = []string{"BENTO_REMOTE=" + url, "BENTO_REMOTE_SIGN_KEY=", "CI="}
	out, errs, err := w.run(nil, "run", "build", "--cache", "remote:rw")
	if err != nil || !strings.Contains(out, "0 hits, 6 built, 0 failed") {
		t.Errorf("%s: %v\n%s%s", url, err, out, errs)
	}
	if n := strings.Count(errs, "warning: "); n > 1 {
		t.Errorf("%s: %d warnings:\n%s", url, n, errs)
	}
	out, _, err = w.run(nil, "run", "check", "--keep-going")
	if exit, ok := asExit(err); !ok || exit.ExitCode() != exitTask || !strings.Contains(out, "6 failed") {
		t.Errorf("%s: %v, want exit code %d\n%s", url, err, exitTask, out)
	}
	out, errs, err = w.run(nil, "run", "build")
	if err != nil || !strings.Contains(out, "6 hits, 0 built") || strings.Contains(errs, "warning: ") {
		t.Errorf("%s: then %v\n%s%s", url, err, out, errs)
	}
}
