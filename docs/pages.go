// Package docs holds the pages of the documentation as text. Some are normative: bento explains their clauses.
package docs

import (
	"embed"
	"regexp"
	"strings"
)

//go:embed *.md
var files embed.FS

// Page is a page of the documentation.
type Page struct {
	Name  string // "commands.md"
	Title string // its first heading
	Text  string // Markdown
}

// Pages returns the pages for users, sorted by name.
func Pages() (list []Page) {
	entries, _ := files.ReadDir(".") // the root of embedded files can be read
	for _, e := range entries {
		if e.Name() == "style.md" { // for authors of bento
			continue
		}
		text := textOf(e.Name())
		title, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
		list = append(list, Page{Name: e.Name(), Title: title, Text: text})
	}
	return list
}

func textOf(name string) string {
	text, _ := files.ReadFile(name) // the name is that of an embedded file
	return string(text)
}

// Clause is one clause of a contract.
type Clause struct {
	Number string // "3.1", of a one-shot tool "O3.1"
	Page   string // "docs/PROTOCOL.md"
	Binds  string // "plugin, MUST"
	Text   string // one paragraph
}

// FindClause returns a clause by its number.
func FindClause(number string) (Clause, bool) {
	for _, page := range []string{"PROTOCOL.md", "TOOL-PROTOCOL.md", "TOOL-PROTOCOL-WASM.md"} {
		text, start := textOf(page), "**"+number+"** ("
		i := strings.Index("\n"+text, "\n"+start)
		if i < 0 {
			continue
		}
		line, _, _ := strings.Cut(text[i+len(start):], "\n")
		binds, text, _ := strings.Cut(line, ") ")
		tests := regexp.MustCompile("`[a-z/]+: (?:Test|Fuzz)[^`]*`") // of the repository
		return Clause{Number: number, Page: "docs/" + page, Binds: binds, Text: strings.TrimSpace(tests.ReplaceAllString(text, ""))}, true
	}
	return Clause{}, false
}
