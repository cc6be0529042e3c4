// Package docs holds the normative pages, whose clauses bento explains.
package docs

import (
	_ "embed"
	"regexp"
	"strings"
)

var (
	//go:embed PROTOCOL.md
	adapters string
	//go:embed TOOL-PROTOCOL.md
	tools string
	//go:embed TOOL-PROTOCOL-WASM.md
	modules string
)

// Clause is one clause of a contract.
type Clause struct {
	Number string // "3.1", of a one-shot tool "O3.1"
	Page   string // "docs/PROTOCOL.md"
	Binds  string // "plugin, MUST"
	Text   string // one paragraph
}

// FindClause returns a clause by its number.
func FindClause(number string) (Clause, bool) {
	for _, page := range []struct{ name, text string }{{"PROTOCOL.md", adapters}, {"TOOL-PROTOCOL.md", tools}, {"TOOL-PROTOCOL-WASM.md", modules}} {
		start := "**" + number + "** ("
		i := strings.Index("\n"+page.text, "\n"+start)
		if i < 0 {
			continue
		}
		line, _, _ := strings.Cut(page.text[i+len(start):], "\n")
		binds, text, _ := strings.Cut(line, ") ")
		tests := regexp.MustCompile("`[a-z/]+: (?:Test|Fuzz)[^`]*`") // of the repository
		return Clause{Number: number, Page: "docs/" + page.name, Binds: binds, Text: strings.TrimSpace(tests.ReplaceAllString(text, ""))}, true
	}
	return Clause{}, false
}
