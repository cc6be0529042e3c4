package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/foreign"
	"github.com/bentobuild/bento/internal/report"
)

// readForeign reads the files of the tools that --from names, or of all.
func (doc *initialised) readForeign(o initOptions) error {
	present, ids := foreign.Present(doc.src.Files), o.from
	if len(ids) == 0 {
		ids = present
	}
	for _, id := range ids {
		if !slices.Contains(present, id) {
			i := slices.IndexFunc(foreign.Tools(), func(t foreign.Tool) bool { return t.ID == id })
			return notFound("init_foreign", fmt.Sprintf("--from %s: there is no %s in %q", id, foreign.Tools()[i].Files[0], doc.Root), "use -C for the directory that has it")
		}
	}
	doc.mapping = foreign.Read(doc.src, ids)
	if len(o.from) > 0 && len(doc.mapping.Problems) > 0 {
		return diagnostics.Problems(doc.mapping.Problems)
	}
	for _, p := range doc.mapping.Problems {
		p.Severity = diagnostics.Warning // the user did not name the file
		doc.problems = append(doc.problems, p)
	}
	doc.Foreign = doc.mapping.Entries()
	doc.Unmapped = append(doc.Unmapped, doc.mapping.Gaps...)
	return nil
}

// foreignDishes returns the dishes as package foreign knows them.
func (doc *initialised) foreignDishes() (list []foreign.Dish) {
	for _, row := range doc.Dishes {
		d := foreign.Dish{Name: row.Name, Path: row.Path, Tasks: row.Tasks}
		if row.Language != nil {
			d.Languages = []string{*row.Language}
		}
		list = append(list, d)
	}
	return list
}

// defaults returns the keys of bento.toml that the mapping has, "" without --from.
func (doc *initialised) defaults() string {
	if len(doc.from) == 0 || doc.mapping == nil {
		return ""
	}
	return doc.mapping.Defaults.Text()
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

func (s *session) tellFile(f foreign.Entries) {
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
