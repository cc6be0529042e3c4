package action

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/proc"
)

// The interval of the checks, and the time limit of one check.
const (
	interval = 100 * time.Millisecond
	look     = 5 * time.Second
)

// readyProbe waits until one server is ready.
type readyProbe struct {
	want     *dish.Ready
	executor Executor
	server   *Command
	lines    *Lines // matches want.Log
}

// Wait returns nil when the task is ready. The error is that of ctx, or the reason why the task is
// not ready in time.
func (p *readyProbe) Wait(ctx context.Context) error {
	timed, cancel := context.WithTimeout(ctx, time.Duration(p.want.Timeout))
	defer cancel()
	if p.want.Log != "" {
		return p.waitForLine(ctx, timed)
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	var last error
	for {
		err := p.try(timed)
		if err == nil {
			return nil
		}
		if last == nil || timed.Err() == nil {
			last = err // else err is only the timeout of the check
		}
		select {
		case <-tick.C:
		case <-timed.Done():
			return p.tooLate(ctx, last)
		}
	}
}

// waitForLine waits for a matching line in the log. A line that was printed before timed ended is
// enough, even if Go selects the other case: a task may print it and end.
func (p *readyProbe) waitForLine(ctx, timed context.Context) error {
	select {
	case <-p.lines.seen:
		return nil
	case <-timed.Done():
	}
	select {
	case <-p.lines.seen:
		return nil
	default:
		return p.tooLate(ctx, nil)
	}
}

func (p *readyProbe) tooLate(ctx context.Context, last error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if last == nil {
		last = fmt.Errorf("it printed no line that matches %q", p.want.Log)
	}
	return fmt.Errorf("not ready after %v: %w", time.Duration(p.want.Timeout), last)
}

// try checks once.
func (p *readyProbe) try(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, look)
	defer cancel()
	switch {
	case p.want.Port != 0:
		return dial(ctx, p.want.Port)
	case p.want.HTTP != "":
		return get(ctx, p.want.HTTP)
	}
	return p.command(ctx)
}

// command runs want.Cmd once, in the directory and the environment of the server. Its output is discarded.
func (p *readyProbe) command(ctx context.Context) error {
	sh, err := foreignShell, error(nil)
	if !p.server.Foreign {
		sh, err = adapters.Environ(p.server.Env).LookPath("sh")
	}
	if err != nil {
		return fmt.Errorf("no shell: %w", err)
	}
	spec := proc.Spec{Argv: []string{sh, "-c", p.want.Cmd}, Dir: p.server.Dir, Env: p.server.Env, Stdout: io.Discard, Stderr: io.Discard}
	res, err := Run(ctx, p.executor, &Command{Spec: spec}, nil)
	if err == nil && res.ExitCode != 0 {
		err = fmt.Errorf("%q exits with status %d", p.want.Cmd, res.ExitCode)
	}
	return err
}

// dial connects to a port of this machine, by either version of IP.
func dial(ctx context.Context, port int) error {
	var d net.Dialer
	var err error
	for _, host := range []string{"127.0.0.1", "::1"} {
		var conn net.Conn
		if conn, err = d.DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port))); err == nil {
			return conn.Close()
		}
	}
	return fmt.Errorf("no process listens on port %d", port)
}

func get(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true}, // and no proxy
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	res.Body.Close()
	if res.StatusCode >= 400 {
		return fmt.Errorf("%s answers %s", url, res.Status)
	}
	return nil
}
