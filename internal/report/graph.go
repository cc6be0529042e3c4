package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
)

// Graph is the document of `bento graph`.
type Graph struct {
	Schema string      `json:"schema"`
	Dishes []graphDish `json:"dishes"`
	Tasks  []graphTask `json:"tasks"`
}

type graphDish struct {
	dishHead
	Links []graphLink `json:"links"`
}

type graphLink struct {
	Dish string `json:"dish"`
	Kind string `json:"kind"` // "declared" or "inferred"
	Via  string `json:"via,omitempty"`
	Dev  bool   `json:"dev,omitempty"`
	// Private says that only tasks of the dish itself use the link.
	Private bool   `json:"private,omitempty"`
	Cyclic  bool   `json:"cyclic,omitempty"`
	Where   string `json:"where,omitempty"` // file:line
}

type graphTask struct {
	ID        string   `json:"id"`
	DependsOn []string `json:"depends_on"`
}

// NewGraph makes the document of the dishes of a plan and its tasks.
func NewGraph(p *plan.Plan) Graph {
	doc := Graph{Schema: Schema("graph"), Dishes: []graphDish{}, Tasks: []graphTask{}}
	for _, d := range shown(p) {
		row := graphDish{dishHead: headOf(d), Links: []graphLink{}}
		for _, l := range d.Links {
			row.Links = append(row.Links, graphLink{
				Dish: l.To.Name, Kind: string(l.Kind), Via: l.Via, Dev: l.Dev, Private: l.Private, Cyclic: l.Cyclic, Where: l.Where,
			})
		}
		for _, from := range p.Included(d) {
			row.Links = append(row.Links, graphLink{Dish: from.From.Name, Kind: dish.Inferred, Via: cmp.Or(from.Via, "files"), Where: from.Where})
		}
		doc.Dishes = append(doc.Dishes, row)
	}
	for _, t := range p.Tasks {
		row := graphTask{ID: t.ID(), DependsOn: []string{}}
		for _, d := range t.Deps {
			row.DependsOn = append(row.DependsOn, d.Task.ID())
		}
		doc.Tasks = append(doc.Tasks, row)
	}
	return doc
}

// WriteGraph prints the links between dishes for people.
func WriteGraph(w io.Writer, style Style, doc Graph) {
	for _, d := range doc.Dishes {
		head := style.Bold(PrintableLine(d.Name))
		if d.Language != nil {
			head += "  " + style.Dim("("+*d.Language+")")
		}
		fmt.Fprintln(w, head)
		for _, l := range d.Links {
			notes := []string{l.Kind}
			if l.Where != "" {
				notes = append(notes, l.Where)
			}
			if l.Via != "" {
				notes = append(notes, "via "+l.Via)
			}
			if l.Dev {
				notes = append(notes, "development only")
			}
			if l.Private {
				notes = append(notes, "for its own tasks")
			}
			if l.Cyclic {
				notes = append(notes, "closes a cycle")
			}
			fmt.Fprintf(w, "  → %s  %s\n", PrintableLine(l.Dish), style.Dim(PrintableLine(strings.Join(notes, ", "))))
		}
	}
}

// WriteDot prints a graph for Graphviz: an edge from each task to its dependencies, and a dashed edge from each
// dish to the dishes that it is linked to. The arrows have the direction of those of WriteGraph.
func WriteDot(w io.Writer, doc Graph) {
	fmt.Fprintln(w, "digraph bento {\n  rankdir=LR;\n  node [shape=box];")
	for _, d := range doc.Dishes {
		fmt.Fprintf(w, "  %s [shape=folder];\n", dotID(d.Name))
		for _, l := range d.Links {
			fmt.Fprintf(w, "  %s -> %s [style=dashed];\n", dotID(d.Name), dotID(l.Dish))
		}
	}
	for _, t := range doc.Tasks {
		fmt.Fprintf(w, "  %s;\n", dotID(t.ID))
		for _, d := range t.DependsOn {
			fmt.Fprintf(w, "  %s -> %s;\n", dotID(t.ID), dotID(d))
		}
	}
	fmt.Fprintln(w, "}")
}

// dotID quotes a name in the syntax of the DOT language.
func dotID(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(PrintableLine(s)) + `"`
}
