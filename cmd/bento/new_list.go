package main

import (
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/template"
	"github.com/bentobuild/bento/internal/tree"
)

// templateList is the document of `bento new` without arguments.
type templateList struct {
	Schema  string        `json:"schema"`
	Entries []templateRow `json:"entries"`
}

type templateRow struct {
	Name        string        `json:"name"` // on the command line
	Path        string        `json:"path"` // relative to the root
	Description string        `json:"description,omitempty"`
	Variables   []variableRow `json:"variables"`
}

type variableRow struct {
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	Default     *string `json:"default,omitempty"` // absent if the variable is required
}

// listTemplates prints the templates of the workspace. The problems of an invalid one are printed in its place.
func (s *session) listTemplates(ctx context.Context) error {
	root, _, err := s.root()
	if err != nil {
		return err
	}
	files, err := tree.Walk(ctx, root, &tree.Options{})
	if err != nil {
		return err
	}
	defer files.Close()
	list := templateList{report.Schema("new.list"), []templateRow{}}
	var invalid []diagnostics.Diagnostic
	for _, dir := range templatesIn(files) {
		t, problems := readTemplate(files, dir)
		if invalid = append(invalid, problems...); t != nil {
			list.Entries = append(list.Entries, rowOfTemplate(t))
		}
	}
	report.WriteProblems(s.err, s.style, invalid)
	if len(invalid) > 0 {
		s.outcome = exitInput
	}
	return show(s, list, writeTemplates)
}

func rowOfTemplate(t *template.Template) templateRow {
	row := templateRow{shortTemplate(t.Dir), t.Dir, t.Description, []variableRow{}}
	for _, v := range t.Variables {
		row.Variables = append(row.Variables, variableRow{v.Name, v.Description, v.Default})
	}
	return row
}

func writeTemplates(w io.Writer, style report.Style, list templateList) {
	if len(list.Entries) == 0 {
		fmt.Fprintf(w, "no template; a directory with a %s is one, such as %s\n", template.File, path.Join(templateDir, "NAME"))
		return
	}
	width := 0
	for _, t := range list.Entries {
		width = max(width, len(t.Name))
	}
	for _, t := range list.Entries {
		line := fmt.Sprintf("%-*s  %s", width, report.PrintableLine(t.Name), report.PrintableLine(t.Description))
		for _, v := range t.Variables {
			text := v.Name
			if v.Default != nil {
				text += "=" + *v.Default
			}
			line += "  " + style.Dim(report.PrintableLine(text))
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}
