package companion

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxFailures is how many failures a record keeps.
const maxFailures = 8

// Fail adds a failure. The oldest of too many is dropped.
func (r *Record) Fail(at time.Time) {
	list := append(strings.Fields(r.Failures), strconv.FormatInt(at.UnixMilli(), 10))
	r.Failures = strings.Join(list[max(0, len(list)-maxFailures):], " ")
}

// Failed returns the failures within a time before now, oldest first.
func (r *Record) Failed(now time.Time, within time.Duration) (list []time.Time) {
	for text := range strings.FieldsSeq(r.Failures) {
		ms, err := strconv.ParseInt(text, 10, 64)
		at := time.UnixMilli(ms)
		if ago := now.Sub(at); err == nil && ago >= 0 && ago <= within {
			list = append(list, at)
		}
	}
	slices.SortFunc(list, time.Time.Compare)
	return list
}
