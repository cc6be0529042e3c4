package discovery

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bentobuild/bento/adapters"
)

// plugin is an adapter that accepts a number of calls at a time.
type plugin struct {
	adapters.Adapter
	parallel int
}

func (p *plugin) Manifest() *adapters.Manifest { return &adapters.Manifest{Parallel: p.parallel} }
func (*plugin) Start(context.Context) error    { return nil }

// Calls keep the order of Join, however long the first ones take, and even if some of them leave.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			a     = &plugin{}
			queue callQueue
			mu    sync.Mutex
			got   []int
			all   sync.WaitGroup
		)
		for i := range 8 {
			place := queue.Join([]adapters.Adapter{a, &plugin{}})
			all.Go(func() {
				defer place.LeaveAll()
				time.Sleep(time.Duration(8-i) * time.Second)
				if i%3 == 1 { // it makes no call
					place.Leave(a)
					place.Leave(a)
					return
				}
				place.Wait(a)
				mu.Lock()
				got = append(got, i)
				mu.Unlock()
			})
		}
		all.Wait()
		if want := []int{0, 2, 3, 5, 6}; !slices.Equal(got, want) {
			t.Errorf("the order is %v, want %v", got, want)
		}
	})
}

// A call of one plugin does not wait for a call of another plugin, of a built-in adapter, or of a plugin
// that allows several calls at once.
func TestFree(t *testing.T) {
	var queue callQueue
	a, many, builtin := &plugin{}, &plugin{parallel: 2}, struct{ adapters.Adapter }{}
	queue.Join([]adapters.Adapter{a, many, builtin})
	second := queue.Join([]adapters.Adapter{&plugin{}, many, builtin, nil})
	second.Wait(a)
	second.Wait(many)
	second.Wait(builtin)
	second.LeaveAll()
	var nobody *queuePlace
	nobody.Wait(a)
	nobody.Leave(a)
}
