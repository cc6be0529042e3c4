package host

import (
	"context"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// metered launches processes that report n bytes of unread input.
type metered struct {
	Launcher
	n atomic.Int64
}

func (m *metered) Launch(ctx context.Context, stderr io.Writer) (*Stream, error) {
	s, err := m.Launcher.Launch(ctx, stderr)
	if err == nil {
		s.Unread = func() int { return int(m.n.Load()) }
	}
	return s, err
}

// TestFinish: Finish waits for an extension while it reads, and no longer than allowed.
func TestFinish(t *testing.T) {
	const wait = 2 * time.Second
	silent := func(c *child) { c.hang() }
	deaf := greeted(func(c *child) { c.hang() })
	lingering := greeted(func(c *child) { c.reply(c.read(), "null"); c.hang() })
	leaving := greeted(func(c *child) { c.reply(c.read(), "null") })
	for name, c := range map[string]struct {
		run    func(c *child)
		unread func(since time.Duration) int
		gone   bool          // Finish does not wait
		late   time.Duration // between the launch and Finish
		want   time.Duration
		why    string
	}{
		"ends":                  {run: leaving},
		"reads nothing":         {run: deaf, unread: func(time.Duration) int { return 10 }, want: wait / 20, why: "unread for 100ms"},
		"answers, no exit":      {run: lingering, want: wait / 4, why: "it has not exited 500ms after its answer"},
		"has read all":          {run: deaf, want: wait},
		"reads slowly":          {run: deaf, unread: func(d time.Duration) int { return max(0, 1000-int(d.Milliseconds())) }, want: wait},
		"stops in between":      {run: deaf, unread: func(d time.Duration) int { return max(500, 1000-int(d.Milliseconds())) }, want: 500*time.Millisecond + wait/20, why: "unread for 100ms"},
		"no handshake":          {run: silent, unread: func(time.Duration) int { return 10 }, want: wait / 4, why: "the handshake took more than 500ms"},
		"no handshake for long": {run: silent, late: time.Second, want: 10 * time.Millisecond, why: "the handshake took"},
		"not waited for":        {run: deaf, gone: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &metered{}
				r, _, _ := reside(t, func(o *ResidentOptions) {
					m.Launcher, o.Launcher, o.Eager, o.Await = o.Launcher, m, true, 10*time.Second
				}, c.run)
				synctest.Wait()
				time.Sleep(c.late)
				began := time.Now()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.gone {
					cancel()
				}
				if c.unread != nil {
					go func() {
						for ctx.Err() == nil {
							m.n.Store(int64(c.unread(time.Since(began))))
							time.Sleep(time.Millisecond)
						}
					}()
				}
				why := r.Finish(ctx, wait, func(ctx context.Context) {
					for state, _ := r.State(); state == Starting && ctx.Err() == nil; state, _ = r.State() {
						time.Sleep(time.Millisecond)
					}
				})
				took := time.Since(began)
				if took < c.want || took > c.want+2*wait/20/10 {
					t.Errorf("took %v, want %v", took, c.want)
				}
				if !strings.Contains(why, c.why) || c.why == "" && why != "" {
					t.Errorf("because %q, want %q", why, c.why)
				}
				if state, _ := r.State(); state != Stopped {
					t.Errorf("it is %s", state)
				}
				cancel()
				synctest.Wait()
				time.Sleep(time.Millisecond)
			})
		})
	}
}
