package plan

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/dag"
	"github.com/bentobuild/bento/internal/dish"
)

// Circle is a strongly connected component of the links between dishes that are not private.
type Circle struct {
	Dishes []*dish.Dish // by path
	Links  []*dish.Dish // dishes outside that the circle depends on, by path
}

// Circles returns the circle of every dish.
func Circles(dishes []*dish.Dish) map[*dish.Dish]*Circle {
	index := make(map[*dish.Dish]int, len(dishes))
	for i, d := range dishes {
		index[d] = i
	}
	g := dag.New(len(dishes))
	for i, d := range dishes {
		for _, l := range linked(d, false) {
			g.AddEdge(index[l], i)
		}
	}
	circles := make(map[*dish.Dish]*Circle, len(dishes))
	for _, component := range g.Components() {
		c := &Circle{}
		for _, i := range component {
			c.Dishes = append(c.Dishes, dishes[i])
			circles[dishes[i]] = c
		}
		for _, d := range c.Dishes {
			for _, l := range linked(d, false) {
				if circles[l] != c && !slices.Contains(c.Links, l) {
					c.Links = append(c.Links, l)
				}
			}
		}
		slices.SortFunc(c.Links, byPath)
	}
	return circles
}

func byPath(x, y *dish.Dish) int { return strings.Compare(x.Path, y.Path) }
