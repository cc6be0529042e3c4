package report

import "slices"

// Rows returns each of n spans, which are sorted by start, the first row that is free
// when it starts.
func Rows(n int, span func(i int) (start, end int64)) []int {
	var free []int64 // by row: when it is free again
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
