package sep

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bentobuild/bento/internal/testrun"
	"github.com/bentobuild/bento/plugin/wire"
)

var forks = goleak.IgnoreTopFunction("github.com/bentobuild/bento/internal/proc.(*family).adopt.func1")

// TestMain makes the test binary an extension too: with an argument kid:NAME it does what the kid of that
// name does.
func TestMain(m *testing.M) {
	name, isKid := "", false
	if len(os.Args) > 1 {
		name, isKid = strings.CutPrefix(os.Args[1], "kid:")
	}
	if !isKid {
		goleak.VerifyTestMain(testrun.InMemory(testrun.Kids(m)), forks)
		return
	}
	kids()[name].run()
	leave()
}

// leave ends a kid. os.Exit would sleep for a second under the race detector.
func leave() { syscall.Exit(0) }

// dial connects to the endpoint. Whatever bento does not read is waited for: bento ends the connection, not the kid.
func dial() (*child, error) {
	network, path, _ := strings.Cut(os.Getenv("SEP_ENDPOINT"), ":")
	if network == "stdio" {
		return &child{Conn: wire.NewConn(os.Stdin, os.Stdout, wire.Limits{Send: time.Hour}), stdout: os.Stdout}, nil
	}
	conn, err := net.Dial(network, path)
	if err != nil {
		return nil, err
	}
	return &child{Conn: wire.NewConn(conn, conn, wire.Limits{Body: 8 << 20, Send: time.Hour}), stdout: conn, killed: make(chan struct{})}, nil
}

// connected connects and sends the token.
func connected() *child {
	c, err := dial()
	if err != nil {
		os.Stderr.WriteString("cannot connect: " + err.Error() + "\n")
		leave()
	}
	c.hello(os.Getenv("SEP_TOKEN"))
	return c
}

func (c *child) hello(token string) {
	c.write(`{"jsonrpc":"2.0","method":"sep.hello","params":{"token":%q}}`, token)
}

// after returns a kid that connects, answers the handshake and then runs f.
func after(f func(c *child)) func() {
	return func() {
		c := connected()
		c.greet()
		f(c)
	}
}

// again starts a second process as the kid name, in a session of its own if apart.
func again(name string, apart bool) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{"kid:" + name}, os.Args[2:]...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: apart}
	_ = cmd.Start()
	return cmd
}
