package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/bentobuild/bento/internal/key"
)

// Toolchains is the document of `bento toolchain list` and `check`.
type Toolchains struct {
	Schema  string           `json:"schema"`
	Entries []key.ToolStatus `json:"entries"`
	Unmet   int              `json:"unmet"` // entries that are missing or mismatched
}

// WriteToolchains prints the tools for people.
func WriteToolchains(w io.Writer, style Style, doc Toolchains) {
	words := map[string]string{
		"ok": style.Green("ok      "), "unpinned": style.Dim("unpinned"), "mismatch": style.Red("mismatch"),
		"mismatch_warned": style.Yellow("mismatch"), "missing": style.Red("missing "), "failed": style.Red("failed  "),
		"not_compared": style.Dim("?       "), "known_at_run": style.Dim("at run  "),
	}
	for _, r := range doc.Entries {
		line := fmt.Sprintf("%s  %-16s %-8s", words[r.Status], PrintableLine(r.Dish), PrintableLine(r.Tool))
		if r.Found != "" {
			line += " " + PrintableLine(r.Found)
		}
		if r.Wanted != "" {
			line += style.Dim(fmt.Sprintf("  wants %s (%s)", PrintableLine(r.Wanted), PrintableLine(style.Shown(r.Where))))
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
		if r.Status != "ok" && r.Hint != "" {
			fmt.Fprintf(w, "            %s\n", Indent(Printable(r.Hint)))
		}
	}
}
