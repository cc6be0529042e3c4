package page

import (
	"cmp"
	"slices"
)

// Distances between nodes, in pixels.
const (
	columnWidth = 240
	rowHeight   = 46
	maxRows     = 60 // of a column, before it is split into two
)

// place computes the place of every dish: to the right of its dependencies, and near to them.
func place(dishes []Dish) {
	index := make(map[string]int, len(dishes))
	for i := range dishes {
		index[dishes[i].Name] = i
	}
	layers := layersOf(dishes, index)
	rank := make([]float64, len(dishes))
	for _, layer := range layers {
		for at, i := range layer {
			rank[i] = float64(at)
		}
	}
	for range 4 {
		for _, layer := range layers[min(1, len(layers)):] {
			settle(dishes, index, layer, rank)
		}
	}
	x := 0
	for _, layer := range layers {
		for at, i := range layer {
			dishes[i].X = x + at/maxRows*columnWidth
			dishes[i].Y = at % maxRows * rowHeight
		}
		x += (len(layer) + maxRows - 1) / maxRows * columnWidth
	}
}

// layersOf puts every dish one layer after the last of its dependencies. It ignores links that close a cycle.
func layersOf(dishes []Dish, index map[string]int) [][]int {
	depth := make([]int, len(dishes))
	state := make([]byte, len(dishes)) // 1 during its visit, 2 once its depth is known
	var visit func(i int) int
	visit = func(i int) int {
		if state[i] != 0 {
			return depth[i]
		}
		state[i] = 1
		for _, l := range dishes[i].Links {
			if j, ok := index[l.Dish]; ok && state[j] != 1 {
				depth[i] = max(depth[i], visit(j)+1)
			}
		}
		state[i] = 2
		return depth[i]
	}
	var layers [][]int
	for i := range dishes {
		for visit(i) >= len(layers) {
			layers = append(layers, nil)
		}
		layers[depth[i]] = append(layers[depth[i]], i)
	}
	return layers
}

// settle orders a layer by the places of the dependencies of its dishes.
func settle(dishes []Dish, index map[string]int, layer []int, rank []float64) {
	want := make(map[int]float64, len(layer))
	for _, i := range layer {
		sum, n := 0.0, 0
		for _, l := range dishes[i].Links {
			if j, ok := index[l.Dish]; ok {
				sum, n = sum+rank[j], n+1
			}
		}
		if want[i] = rank[i]; n > 0 {
			want[i] = sum / float64(n)
		}
	}
	slices.SortStableFunc(layer, func(i, j int) int { return cmp.Compare(want[i], want[j]) })
	for at, i := range layer {
		rank[i] = float64(at)
	}
}
