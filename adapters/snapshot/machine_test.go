package snapshot

import (
	"errors"
	"testing"
)

func TestMachineHoldsForASnapshot(t *testing.T) {
	looks := 0
	failed := errors.New("failed")
	var m Machine[int]
	see := func(s Source, want int) {
		t.Helper()
		got, err := m.See(s, func() (int, error) { looks++; return looks, failed })
		if got != want || !errors.Is(err, failed) {
			t.Errorf("saw %d, %v; want %d", got, err, want)
		}
	}
	see(Source{}, 1)
	see(Source{}, 2)
	held := Options{Snapshot: new(Snapshot)}.Source()
	see(held, 3)
	held.snapshot.Hold(disk{})
	see(held, 4)
	see(held, 4)
	if got, _ := m.Of(held, "other", func() (int, error) { return 9, nil }); got != 9 {
		t.Errorf("another value is %d", got)
	}
	see(held.Now(), 5)
}
