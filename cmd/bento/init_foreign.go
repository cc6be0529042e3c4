package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/foreign"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// foreignFile is a file of another tool that declares tasks. Maps has its entries as keys of bento's files.
type foreignFile struct {
	Tool string    `json:"tool"`
	File string    `json:"file"`
	Maps []mapping `json:"maps"`
}

// mapping is one entry, and the key for it in the dish.toml of some dishes.
type mapping struct {
	From   string   `json:"from"`
	To     string   `json:"to"`
	Dishes []string `json:"dishes"` // paths
}

// readForeign reads the files of the tools that --from names, or of all.
func (doc *initialised) readForeign(o initOptions) error {
	below := clone.At(doc.Root)
	present, ids := foreign.Present(below), o.from
	if len(ids) == 0 {
		ids = present
	}
	for _, id := range ids {
		if !slices.Contains(present, id) {
			i := slices.IndexFunc(foreign.Tools(), func(t foreign.Tool) bool { return t.ID == id })
			return notFound("init_foreign", fmt.Sprintf("--from %s: there is no %s in %q", id, foreign.Tools()[i].Files[0], doc.Root), "use -C for the directory that has it")
		}
	}
	doc.mapping = foreign.Read(foreign.Source{Files: below, Dishes: doc.foreignDishes(), Paths: doc.paths}, ids)
	if len(o.from) > 0 && len(doc.mapping.Problems) > 0 {
		return diagnostics.Problems(doc.mapping.Problems)
	}
	for _, p := range doc.mapping.Problems {
		p.Severity = diagnostics.Warning // the user did not name the file
		doc.Problems = append(doc.Problems, p)
	}
	doc.keepOwn(below)
	doc.listForeign()
	doc.Unmapped = append(doc.Unmapped, doc.mapping.Gaps...)
	return nil
}

// foreignDishes returns the dishes by directory.
func (doc *initialised) foreignDishes() (list []foreign.Dish) {
	for _, row := range doc.Dishes {
		i := slices.IndexFunc(list, func(d foreign.Dish) bool { return d.Path == row.Path })
		if i < 0 {
			i, list = len(list), append(list, foreign.Dish{Name: row.Name, Path: row.Path})
		}
		list[i].Tasks = append(list[i].Tasks, row.Tasks...)
		if row.Language != nil {
			list[i].Languages = append(list[i].Languages, *row.Language)
		}
	}
	return list
}

// keepOwn removes the tables of directories that have a dish.toml from the mapping: bento overwrites no
// dish.toml.
func (doc *initialised) keepOwn(below *clone.Clone) {
	doc.mapping.Tables = slices.DeleteFunc(doc.mapping.Tables, func(t *foreign.Table) bool {
		if _, err := below.Mode(t.File()); err != nil {
			return false
		}
		for _, task := range t.Tasks {
			doc.mapping.Gaps = append(doc.mapping.Gaps, foreign.Gap{File: t.File(), Line: 1, Key: task.Name,
				Why: "the file exists; add to it " + task.Head() + " " + strings.Join(task.Keys(), ", ")})
		}
		return true
	})
}

// listForeign lists the entries by file. Dishes with the same entry share a row.
func (doc *initialised) listForeign() {
	for _, f := range doc.mapping.Files {
		file := foreignFile{Tool: f.Tool, File: f.Path, Maps: []mapping{}}
		for _, t := range doc.mapping.Tables {
			for _, task := range t.Tasks {
				if task.Tool != f.Tool {
					continue
				}
				m := mapping{From: task.From, To: task.Head() + " " + strings.Join(task.Keys(), ", ")}
				i := slices.IndexFunc(file.Maps, func(x mapping) bool { return x.From == m.From && x.To == m.To })
				if i < 0 {
					i, file.Maps = len(file.Maps), append(file.Maps, m)
				}
				file.Maps[i].Dishes = append(file.Maps[i].Dishes, t.Path)
			}
		}
		slices.SortStableFunc(file.Maps, func(a, b mapping) int { return strings.Compare(a.From, b.From) })
		doc.Foreign = append(doc.Foreign, file)
	}
}

// defaults returns the keys of bento.toml that the mapping has, "" without --from.
func (doc *initialised) defaults() string {
	if len(doc.from) == 0 || doc.mapping == nil {
		return ""
	}
	d := doc.mapping.Defaults
	var keys []string
	if d.Parallelism > 0 {
		keys = append(keys, fmt.Sprintf("parallelism = %d", d.Parallelism))
	}
	if d.InheritEnv {
		keys = append(keys, `env = "inherit"`)
	}
	if len(d.PassEnv) > 0 {
		var quoted []string
		for _, name := range d.PassEnv {
			quoted = append(quoted, tomlfile.Quote(name))
		}
		keys = append(keys, "pass_env = ["+strings.Join(quoted, ", ")+"]")
	}
	if len(keys) == 0 {
		return ""
	}
	return "\n[defaults]\n" + strings.Join(keys, "\n") + "\n"
}

// tellForeign prints the tasks of other tools with the equivalent keys of dish.toml, unless init wrote
// these keys.
func (s *session) tellForeign(doc *initialised) {
	if len(doc.from) == 0 {
		for _, f := range doc.Foreign {
			if len(f.Maps) > 0 {
				s.tellFile(f)
			}
		}
	} else if keys := doc.defaults(); doc.exists && keys != "" {
		fmt.Fprintf(s.out, "add to bento.toml:\n  %s\n", report.Printable(strings.ReplaceAll(strings.TrimSpace(keys), "\n", "\n  ")))
	}
	s.tellUnmapped(doc)
}

func (s *session) tellFile(f foreignFile) {
	fmt.Fprintf(s.out, "%s has %s; bento init --from %s writes to dish.toml:\n", f.File, report.Count(len(f.Maps), "task"), f.Tool)
	for _, m := range f.Maps[:min(len(f.Maps), maxListed)] {
		var names []string
		for _, dir := range m.Dishes {
			names = append(names, path.Base(dir))
		}
		in := ""
		if len(names) > 1 || names[0] != "." {
			in = "  (" + diagnostics.Few(names) + ")"
		}
		fmt.Fprintf(s.out, "  %s -> %s%s\n", report.PrintableLine(m.From), report.PrintableLine(m.To), report.PrintableLine(in))
	}
	if more := len(f.Maps) - maxListed; more > 0 {
		fmt.Fprintf(s.out, "  and %d more; bento init --dry-run --json lists them all\n", more)
	}
}

// tellUnmapped prints the entries without a key in bento's files, with the reasons.
func (s *session) tellUnmapped(doc *initialised) {
	if len(doc.Unmapped) == 0 {
		return
	}
	to := s.out
	if doc.DryRun {
		to = s.err
	}
	fmt.Fprintln(to, "not mapped:")
	for _, g := range doc.Unmapped[:min(len(doc.Unmapped), maxListed)] {
		fmt.Fprintf(to, "  %s\n", report.PrintableLine(g.String()))
	}
	if more := len(doc.Unmapped) - maxListed; more > 0 {
		fmt.Fprintf(to, "  and %d more; --json lists them all\n", more)
	}
}
