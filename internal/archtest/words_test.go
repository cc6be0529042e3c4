package archtest

import (
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestWords: no page, message or comment has a phrase that docs/style.md bans.
func TestWords(t *testing.T) {
	banned := bannedPhrases(t)
	for _, name := range tracked(t) {
		if text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name))); err == nil && name != "docs/style.md" {
			reportPhrases(t, &banned, prose(name, string(text)), token.Position{Filename: name, Line: 1})
		}
	}
	for _, s := range sources(t) {
		for _, group := range s.ast.Comments {
			reportPhrases(t, &banned, uncommented(group), s.fset.Position(group.Pos()))
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if n.Kind == token.STRING {
					reportPhrases(t, &banned, n.Value, s.fset.Position(n.Pos()))
				}
			case *ast.FuncDecl:
				if strings.HasPrefix(n.Doc.Text(), n.Name.Name+" gives ") {
					t.Errorf("%s: %q; write \"returns\"", s.fset.Position(n.Doc.Pos()), n.Name.Name+" gives")
				}
			}
			return true
		})
	}
}

// prose returns the text of a file that is not Go: a page, what reports embed, and the comments of scripts.
// Other lines are empty.
func prose(name, text string) string {
	dir, ext := path.Dir(name), path.Ext(name)
	switch {
	case ext == ".md" && (dir == "docs" || dir == "."), strings.HasPrefix(name, "internal/report/") && ext != ".go" && ext != ".md":
		return text
	case ext == ".txtar" && path.Base(dir) == "script":
		text, _, _ = strings.Cut(text, "\n-- ")
	case dir != "scripts" && name != "Makefile":
		return ""
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		comment, is := strings.CutPrefix(strings.TrimSpace(line), "#")
		if lines[i] = ""; is {
			lines[i] = comment
		}
	}
	return strings.Join(lines, "\n")
}

// bannedPhrases reads the phrases in backticks from the last section of docs/style.md. A blank in a
// phrase matches any white space, so that a phrase is found across lines.
func bannedPhrases(t *testing.T) (banned phrases) {
	t.Helper()
	_, section, found := strings.Cut(page(t, "docs/style.md"), "\n## Phrases")
	var patterns []string
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(section, -1) {
		banned.plain = append(banned.plain, strings.ToLower(m[1]))
		patterns = append(patterns, strings.ReplaceAll(regexp.QuoteMeta(m[1]), " ", `\s+`))
	}
	if !found || len(patterns) < 10 {
		t.Fatalf("docs/style.md bans %d phrases, want 10 or more in its section Phrases", len(patterns))
	}
	banned.pattern = regexp.MustCompile(`(?i)\b(?:` + strings.Join(patterns, "|") + `)\b`)
	return banned
}

// phrases are phrases to find. The pattern without the filter takes a hundred times as long.
type phrases struct {
	plain   []string // in lower case
	pattern *regexp.Regexp
}

// in returns where in a text the phrases are.
func (p *phrases) in(text string) [][]int {
	words := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	if !slices.ContainsFunc(p.plain, func(phrase string) bool { return strings.Contains(words, phrase) }) {
		return nil
	}
	return p.pattern.FindAllStringIndex(text, -1)
}

// reportPhrases reports each banned phrase of a text that starts at a position.
func reportPhrases(t *testing.T, banned *phrases, text string, start token.Position) {
	t.Helper()
	for _, at := range banned.in(text) {
		line := start.Line + strings.Count(text[:at[0]], "\n")
		t.Errorf("%s:%d: %q; docs/style.md has the words to write", start.Filename, line, text[at[0]:at[1]])
	}
}

// uncommented returns the text of comments, line by line, without their marks: a phrase may continue
// in the next line.
func uncommented(group *ast.CommentGroup) string {
	var lines []string
	for _, c := range group.List {
		for line := range strings.SplitSeq(c.Text, "\n") {
			lines = append(lines, strings.TrimPrefix(strings.TrimLeft(line, "\t "), "//"))
		}
	}
	return strings.Join(lines, "\n")
}
