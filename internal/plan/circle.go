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

// Circles returns the circle of every dish. The caller must not change it.
func (p *Plan) Circles() map[*dish.Dish]*Circle { return p.circles() }

// circlesOf returns the circle of every dish. linked returns the sorted dishes that a dish is linked to.
func circlesOf(dishes []*dish.Dish, linked func(*dish.Dish) []*dish.Dish) map[*dish.Dish]*Circle {
	index := make(map[*dish.Dish]int, len(dishes))
	for i, d := range dishes {
		index[d] = i
	}
	g := dag.Of(len(dishes), func(add func(before, after int)) {
		for i, d := range dishes {
			for _, l := range linked(d) {
				add(index[l], i)
			}
		}
	})
	circles := make(map[*dish.Dish]*Circle, len(dishes))
	components := g.Components()
	all := make([]Circle, len(components)) // one allocation for all
	for k, component := range components {
		c := &all[k]
		for _, i := range component {
			c.Dishes = append(c.Dishes, dishes[i])
			circles[dishes[i]] = c
		}
		if len(c.Dishes) == 1 {
			c.Links = linked(c.Dishes[0])
			continue
		}
		for _, d := range c.Dishes {
			for _, l := range linked(d) {
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
