package report

import "slices"

// Rows returns the row of each of n spans, sorted by start: the first row that is free at the start of the span.
func Rows(n int, span func(i int) (start, end int64)) []int {
	var free []int64 // by row: the time from which it is free
	rows := make([]int, n)
	for i := range rows {
		start, end := span(i)
		row := slices.IndexFunc(free, func(t int64) bool { return t <= start })
		if row < 0 {
			row = len(free)
			free = append(free, 0)
		}
		free[row], rows[i] = end, row
	}
	return rows
}
