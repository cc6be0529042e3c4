package sep

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bentobuild/bento/internal/sampling"
)

// TestRandomLives plays random sequences of host actions on extensions that fail at random, with fixed
// seeds and a new one. Every started process must end, and three failures within a minute must cause a
// quarantine.
func TestRandomLives(t *testing.T) {
	seeds := []uint64{sampling.Rand(t).Uint64()}
	for seed := range uint64(60) {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { bubble(t, func(t *testing.T) { randomLife(t, seed) }) })
	}
}

func randomLife(t *testing.T, seed uint64) {
	host := rand.New(rand.NewPCG(seed, 1))
	var mu sync.Mutex
	var failures []time.Time
	launch := uint64(0)
	x, m := begun(t, Options{
		Provider: failing{},
		Failed: func(Status) {
			mu.Lock()
			defer mu.Unlock()
			failures = append(failures, time.Now())
		},
	}, func(c *child) {
		launch++ // one process at a time
		randomChild(c, rand.New(rand.NewPCG(seed, 100+launch)))
	})
	sent := 0
	for range 30 {
		switch host.IntN(6) {
		case 0:
			for range host.IntN(600) {
				x.Event(t.Context(), "run.started", json.RawMessage(`{}`))
				sent++
			}
		case 1:
			_ = x.Invoke(t.Context(), "p", "go")
		case 2:
			if host.IntN(4) == 0 {
				x.Reload(t.Context())
				mu.Lock()
				failures = nil
				mu.Unlock()
			}
		default:
			time.Sleep(time.Duration(host.IntN(20_000)) * time.Millisecond)
		}
		synctest.Wait()
		mu.Lock()
		if n := len(failures); n >= 3 && failures[n-1].Sub(failures[n-3]) < time.Minute && x.Status().State != Quarantined {
			t.Fatalf("seed %d: %d failures, the last three within %v, and it is %s", seed, n, failures[n-1].Sub(failures[n-3]), x.Status().State)
		}
		mu.Unlock()
	}
	x.Close()
	m.alive.Wait()
	s := x.Status()
	if s.State != Stopped || s.Counters.Starts != s.Counters.Exits || s.Counters.Starts != m.launches() || s.Counters.Dropped > sent {
		t.Errorf("seed %d: %+v after %d launches", seed, s, m.launches())
	}
}

// randomChild answers the handshake or not, and does random things until it ends.
func randomChild(c *child, r *rand.Rand) {
	switch r.IntN(8) {
	case 0:
		return
	case 1:
		c.hang()
		return
	}
	c.greet()
	for {
		m := c.read()
		if m.Method == "" && m.ID == nil {
			return
		}
		switch r.IntN(40) {
		case 0:
			return
		case 1:
			c.drain()
			return
		case 2:
			_, _ = c.stdout.Write([]byte("noise\r\n"))
		case 3:
			go func() {
				for i := range 25 {
					c.write(`{"jsonrpc":"2.0","id":%d,"method":"host.ui.register_tool_panel","params":{"id":"p","title":"P","slot":"tools.page.primary"}}`, i)
				}
			}()
		case 4:
			go c.write(`{"jsonrpc":"2.0","id":"slow","method":"host.messages.send","params":{"destination":"slow","content":""}}`)
		case 5:
			go c.write(`{"jsonrpc":"2.0","id":1.5,"method":"x"}`)
		}
		switch {
		case c.healthy(m):
		case m.Method == "sep.shutdown" && r.IntN(4) == 0:
			c.hang()
		case m.Method == "sep.shutdown":
			c.reply(m, "{}")
			return
		}
	}
}
