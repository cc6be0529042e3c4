package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
)

// Related is the document of `bento query dependents` and `bento query dependencies`.
type Related struct {
	Schema  string       `json:"schema"`
	Of      []string     `json:"of"` // the names of dishes, or the id of a task
	Entries []RelatedRow `json:"entries"`
}

// RelatedRow is a dish or a task that depends on others, or that they depend on.
type RelatedRow struct {
	Name     string `json:"name"`     // of a dish, or the id of a task
	Path     string `json:"path"`     // of the dish
	Distance int    `json:"distance"` // the number of links in between, 1 for a direct one
}

// NewRelatedDishes describes the dishes that depend on those of a plan of all tasks, or that they depend on.
func NewRelatedDishes(p *plan.Plan, of []*dish.Dish, dependents bool) Related {
	all := p.Workspace.Dishes
	next := func(d *dish.Dish) (list []*dish.Dish) {
		for _, l := range d.Links {
			list = append(list, l.To)
		}
		for _, i := range p.Included(d) {
			list = append(list, i.From)
		}
		return list
	}
	doc := newRelated(dependents)
	for _, d := range of {
		doc.Of = append(doc.Of, d.Name)
	}
	for d, n := range related(all, of, next, dependents) {
		doc.Entries = append(doc.Entries, RelatedRow{Name: d.Name, Path: d.Path, Distance: n})
	}
	return doc.sorted()
}

// NewRelatedTasks describes the tasks that depend on that with an id in a plan of all tasks, or that it depends on.
func NewRelatedTasks(p *plan.Plan, id string, dependents bool) Related {
	next := func(t *plan.Task) (list []*plan.Task) {
		for _, d := range t.Deps {
			list = append(list, d.Task)
		}
		return list
	}
	of := slices.DeleteFunc(slices.Clone(p.Tasks), func(t *plan.Task) bool { return t.ID() != id })
	doc := newRelated(dependents)
	doc.Of = append(doc.Of, id)
	for t, n := range related(p.Tasks, of, next, dependents) {
		doc.Entries = append(doc.Entries, RelatedRow{Name: t.ID(), Path: t.Dish.Path, Distance: n})
	}
	return doc.sorted()
}

func newRelated(dependents bool) Related {
	name := "query.dependencies"
	if dependents {
		name = "query.dependents"
	}
	return Related{Schema: Schema(name), Of: []string{}, Entries: []RelatedRow{}}
}

// sorted returns the document with the nearest entries first.
func (doc Related) sorted() Related {
	slices.SortFunc(doc.Entries, func(x, y RelatedRow) int {
		return cmp.Or(cmp.Compare(x.Distance, y.Distance), cmp.Compare(x.Name, y.Name))
	})
	return doc
}

// related returns the elements of all that next leads to from those of of, or, with back set, from which it leads to
// them, with their distances. It leaves out of itself.
func related[T comparable](all, of []T, next func(T) []T, back bool) map[T]int {
	if back {
		from := make(map[T][]T)
		for _, one := range all {
			for _, to := range next(one) {
				from[to] = append(from[to], one)
			}
		}
		next = func(one T) []T { return from[one] }
	}
	distance := make(map[T]int)
	for _, one := range of {
		distance[one] = 0
	}
	for queue := slices.Clone(of); len(queue) > 0; queue = queue[1:] {
		for _, to := range next(queue[0]) {
			if _, seen := distance[to]; !seen {
				distance[to] = distance[queue[0]] + 1
				queue = append(queue, to)
			}
		}
	}
	for _, one := range of {
		delete(distance, one)
	}
	return distance
}

// WriteRelated prints dependents or dependencies for people.
func WriteRelated(w io.Writer, style Style, doc Related) {
	of := PrintableLine(strings.Join(doc.Of, ", "))
	if len(doc.Entries) == 0 && doc.Schema == Schema("query.dependents") {
		fmt.Fprintf(w, "nothing depends on %s\n", of)
	} else if len(doc.Entries) == 0 {
		fmt.Fprintf(w, "no dependencies of %s\n", of)
	}
	for _, e := range doc.Entries {
		fmt.Fprintf(w, "%s  %s  %s\n", style.Bold(fmt.Sprintf("%-20s", PrintableLine(e.Name))), PrintableLine(e.Path), style.Dim(fmt.Sprintf("(distance %d)", e.Distance)))
	}
}

// PathOwners is the document of `bento query paths`.
type PathOwners struct {
	Schema  string      `json:"schema"`
	Entries []PathOwner `json:"entries"`
}

// PathOwner is a path with the dishes that have it.
type PathOwner struct {
	Path   string   `json:"path"`   // relative to the workspace
	Dishes []string `json:"dishes"` // names; several if the directory of the innermost dish has several languages
}

// NewPathOwner describes a path relative to the root of a workspace.
func NewPathOwner(ws *dish.Workspace, path string) PathOwner {
	row := PathOwner{Path: path, Dishes: []string{}}
	if d := ws.Owner(path); d != nil {
		for _, d := range ws.Named(d) {
			row.Dishes = append(row.Dishes, d.Name)
		}
	}
	return row
}

// WritePathOwners prints paths with their dishes for people.
func WritePathOwners(w io.Writer, style Style, doc PathOwners) {
	for _, e := range doc.Entries {
		dishes := PrintableLine(strings.Join(e.Dishes, ", "))
		if len(e.Dishes) == 0 {
			dishes = style.Dim("(in no dish)")
		}
		fmt.Fprintf(w, "%s  %s\n", style.Bold(PrintableLine(e.Path)), dishes)
	}
}

// TagList is the document of `bento query tags`.
type TagList struct {
	Schema  string   `json:"schema"`
	Entries []TagRow `json:"entries"`
}

// TagRow is a tag with its dishes.
type TagRow struct {
	Tag    string   `json:"tag"`
	Dishes []string `json:"dishes"` // names
}

// NewTagList describes the tags of dishes, sorted.
func NewTagList(dishes []*dish.Dish) TagList {
	by := make(map[string][]string)
	for _, d := range dishes {
		for _, tag := range d.Tags() {
			by[tag] = append(by[tag], d.Name)
		}
	}
	doc := TagList{Schema: Schema("query.tags"), Entries: []TagRow{}}
	for _, tag := range slices.Sorted(maps.Keys(by)) {
		doc.Entries = append(doc.Entries, TagRow{Tag: tag, Dishes: by[tag]})
	}
	return doc
}

// WriteTagList prints tags with their dishes for people.
func WriteTagList(w io.Writer, style Style, doc TagList) {
	if len(doc.Entries) == 0 {
		fmt.Fprintln(w, "no tags; a dish has those that its dish.toml lists under tags")
	}
	for _, e := range doc.Entries {
		fmt.Fprintf(w, "%s  %s\n", style.Bold(fmt.Sprintf("%-16s", PrintableLine(e.Tag))), PrintableLine(strings.Join(e.Dishes, ", ")))
	}
}
