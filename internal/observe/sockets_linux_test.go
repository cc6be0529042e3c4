//go:build amd64 || arm64

package observe

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// serve listens at an address of a network, and connects to itself: args are the network and the address.
func serve(args []string) {
	l, err := net.Listen(args[0], args[1])
	if err == nil {
		dial([]string{args[0], l.Addr().String()})
		_, err = l.Accept()
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// dial connects to an address of a network, if it can.
func dial(args []string) {
	if c, err := net.Dial(args[0], args[1]); err == nil {
		c.Close()
	}
}

// What a server does that ran before the command is not seen, so each that it connects to is named. Its own servers, those
// far away, and those that look up names count as little as none.
func TestServers(t *testing.T) {
	needObserver(t)
	dir := tree(t)
	listen := func(network, address string) string {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l.Addr().String()
	}
	tcp, socket, abstract := listen("tcp", "127.0.0.1:0"), listen("unix", filepath.Join(dir, "socket")), listen("unix", "@"+dir)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	server := func(at string) string {
		return "a program connects to " + at + ", a server that the task did not start"
	}
	for name, c := range map[string]struct {
		argv []string
		want string
	}{
		"tcp":              {[]string{self(t), "dial", "tcp", tcp}, server(tcp)},
		"unix":             {[]string{self(t), "dial", "unix", socket}, server(socket)},
		"relative":         {[]string{self(t), "dial", "unix", "socket"}, server(socket)},
		"abstract":         {[]string{self(t), "dial", "unix", abstract}, server(abstract)},
		"private network":  {[]string{self(t), "dial", "udp", "10.255.255.1:9"}, server("10.255.255.1:9")},
		"far away":         {[]string{self(t), "dial", "udp", "192.0.2.1:9"}, ""},
		"names":            {[]string{self(t), "dial", "udp", "10.255.255.1:53"}, ""},
		"nobody":           {[]string{self(t), "dial", "tcp", free.Addr().String()}, ""},
		"missing":          {[]string{self(t), "dial", "unix", "none"}, ""},
		"its own tcp":      {[]string{self(t), "serve", "tcp", "127.0.0.1:0"}, ""},
		"its own tcp6":     {[]string{self(t), "serve", "tcp", ":0"}, ""},
		"its own unix":     {[]string{self(t), "serve", "unix", "own"}, ""},
		"its own abstract": {[]string{self(t), "serve", "unix", "@own " + dir}, ""},
		"pipe":             {[]string{"/bin/sh", "-c", "exec 3<>pipe"}, "a program uses " + dir + "/pipe, a named pipe that the task did not make"},
		"its own pipe":     {[]string{"/bin/sh", "-c", "mkfifo new && exec 3<>new"}, ""},
		"stat of a pipe":   {[]string{"/bin/sh", "-c", "test -p pipe"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, used := run(t, dir, c.argv...)
			if got := strings.Join(append(used.Servers, used.Unseen...), "\n"); got != c.want {
				t.Errorf("want %q, got %q", c.want, got)
			}
		})
	}
}

// TestListeners: of the sockets at a port those are found that listen, and no connection.
func TestListeners(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("no listener at %s: %v", address, err) // without IPv6, for example
			continue
		}
		defer l.Close()
		port := uint16(l.Addr().(*net.TCPAddr).Port)
		for range 3 {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
		}
		raw, err := l.(*net.TCPListener).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		var st unix.Stat_t
		if err := raw.Control(func(fd uintptr) { err = unix.Fstat(int(fd), &st) }); err != nil || st.Ino == 0 {
			t.Fatal(err)
		}
		same := func(what string, want []string) {
			for name, ask := range map[string]func() ([]string, error){
				"the kernel": func() ([]string, error) { return listeners(port) },
				"/proc":      func() ([]string, error) { return listenersOf(uint32(os.Getpid()), port) },
			} {
				got, err := ask()
				if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EOPNOTSUPP) {
					t.Logf("%s does not answer: %v", name, err) // a kernel without tcp_diag
				} else if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s, %s: %s says %v, %v, want %v", address, what, name, got, err, want)
				}
			}
		}
		same("open", []string{fmt.Sprint(st.Ino)})
		l.Close()
		same("closed", nil)
	}
	if !sameNetwork(uint32(os.Getpid())) {
		t.Error("this process has not its own network")
	}
}
