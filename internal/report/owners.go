package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/bentobuild/bento/internal/dish"
)

// Owners is the document of `bento owners`.
type Owners struct {
	Schema  string      `json:"schema"`
	Entries []OwnersRow `json:"entries"`
}

// OwnersRow is a path with its owners by CODEOWNERS.
type OwnersRow struct {
	Path    string   `json:"path"` // relative to the workspace
	Dish    *string  `json:"dish"` // the innermost around it, null for none
	Owners  []string `json:"owners"`
	Pattern string   `json:"pattern,omitempty"` // of the line that decides
	File    string   `json:"file,omitempty"`
	Line    int      `json:"line,omitempty"`
}

// NewOwnersRow describes a path relative to the workspace; dir says that it is a directory. The error is about the file.
func NewOwnersRow(ws *dish.Workspace, path string, dir bool) (OwnersRow, error) {
	row := OwnersRow{Path: path, Owners: []string{}}
	if d := ws.Owner(path); d != nil {
		row.Dish = &d.Name
	}
	switch {
	case path == ".":
		path = "/"
	case dir:
		path += "/"
	}
	o, err := ws.OwnersOf(path)
	if err != nil {
		return row, err
	}
	row.Owners = append(row.Owners, o.Owners...)
	row.Pattern, row.File, row.Line = o.Pattern, o.Pos.File, o.Pos.Line
	return row, nil
}

// WriteOwners prints the owners for people.
func WriteOwners(w io.Writer, style Style, doc Owners) {
	for _, row := range doc.Entries {
		owners, where := "no owner", ""
		if len(row.Owners) > 0 {
			owners = strings.Join(row.Owners, " ")
		}
		if row.File != "" {
			where = fmt.Sprintf("  %s:%d: %s", row.File, row.Line, row.Pattern)
		}
		fmt.Fprintf(w, "%s  %s%s\n", style.Bold(fmt.Sprintf("%-24s", PrintableLine(row.Path))), PrintableLine(owners), style.Dim(PrintableLine(where)))
	}
}
