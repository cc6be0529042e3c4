package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/dish"
)

// DishList is the document of `bento dish list`.
type DishList struct {
	Schema  string         `json:"schema"`
	Entries []DishRow      `json:"entries"`
	LeftOut []dish.LeftOut `json:"left_out,omitempty"`
}

// DishRow is a dish.
type DishRow struct {
	Name       string   `json:"name"`
	Path       string   `json:"path"`
	Language   *string  `json:"language"` // null for none
	Bentos     []string `json:"bentos"`
	Tags       []string `json:"tags"`
	Owners     []string `json:"owners"` // by CODEOWNERS
	Tasks      []string `json:"tasks"`
	DependsOn  []string `json:"depends_on"` // names of dishes
	Configured bool     `json:"configured"` // it has a dish.toml
}

// NewDishRow describes a dish.
func NewDishRow(d *dish.Dish) DishRow {
	row := DishRow{
		Name: d.Name, Path: d.Path, Configured: d.Config != nil,
		Bentos: append([]string{}, d.Bentos...), Tags: d.Tags(), Owners: d.Owners(), Tasks: d.TaskNames(), DependsOn: []string{},
	}
	if d.Adapter != nil {
		id := d.Adapter.Manifest().AdapterID
		row.Language = &id
	}
	for _, l := range d.Links {
		row.DependsOn = append(row.DependsOn, l.To.Name)
	}
	slices.Sort(row.DependsOn)
	row.DependsOn = slices.Compact(row.DependsOn)
	return row
}

// WriteDishList prints the dishes for people.
func WriteDishList(w io.Writer, style Style, doc DishList) {
	if len(doc.Entries) == 0 {
		fmt.Fprintln(w, "no dishes; bento dish add DIR makes one")
	}
	for _, d := range doc.Entries {
		language := "none"
		if d.Language != nil {
			language = *d.Language
		}
		tags := ""
		if len(d.Tags) > 0 {
			tags = "  " + PrintableLine(strings.Join(d.Tags, ", "))
		}
		fmt.Fprintf(w, "%s  %s  %s%s\n", style.Bold(fmt.Sprintf("%-16s", PrintableLine(d.Name))), PrintableLine(d.Path), style.Dim("("+language+")"), tags)
		if len(d.Tasks) > 0 {
			fmt.Fprintf(w, "  %s\n", PrintableLine(strings.Join(d.Tasks, ", ")))
		}
	}
}

// WriteLeftOut prints the directories with a manifest that are no dishes.
func WriteLeftOut(w io.Writer, style Style, doc DishList) {
	if len(doc.LeftOut) == 0 {
		fmt.Fprintln(w, "every directory with a manifest is a dish")
	}
	for _, l := range doc.LeftOut {
		fmt.Fprintf(w, "%s  %s  %s\n", style.Bold(PrintableLine(l.Path)), l.Reason, style.Dim(PrintableLine("("+l.Adapter+") "+l.Why)))
	}
}

// BentoList is the document of `bento box list`.
type BentoList struct {
	Schema  string     `json:"schema"`
	Entries []BentoRow `json:"entries"`
}

// BentoRow is a bento.
type BentoRow struct {
	Name   string   `json:"name"`
	File   string   `json:"file"`
	Dishes []string `json:"dishes"` // names
}

// WriteBentoList prints the bentos for people.
func WriteBentoList(w io.Writer, style Style, doc BentoList) {
	if len(doc.Entries) == 0 {
		fmt.Fprintln(w, "no bentos; bento box add NAME DISH… makes one")
	}
	for _, b := range doc.Entries {
		fmt.Fprintf(w, "%s  %s\n  %s\n", style.Bold(PrintableLine(b.Name)), style.Dim(PrintableLine(b.File)), PrintableLine(strings.Join(b.Dishes, ", ")))
	}
}
