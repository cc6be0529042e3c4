package adapters_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bentobuild/bento/adapters"
)

func TestMomentHoldsForASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		failed := errors.New("failed")
		var m adapters.Moment[int]
		see := func(want int) {
			t.Helper()
			got, err := m.See(func() (int, error) { looks++; return looks, failed })
			if got != want || !errors.Is(err, failed) {
				t.Errorf("saw %d, %v; want %d", got, err, want)
			}
		}
		see(1)
		time.Sleep(time.Second - time.Nanosecond)
		see(1)
		time.Sleep(time.Nanosecond)
		see(2)
	})
}
