package template

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/bentobuild/bento/diagnostics"
)

// Output is a file of a new directory. Its path is relative to the directory.
type Output struct {
	Path string
	Data []byte
	Mode fs.FileMode
}

// Derived returns the values of the variables that every template has, for a new directory: path is relative to the
// root, and name, letters, digits, dots, dashes and underscores, is the name of the dish.
func Derived(name, path string) map[string]string {
	words := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("._-", r) })
	pascal := ""
	for _, word := range words {
		pascal += strings.ToUpper(word[:1]) + word[1:]
	}
	return map[string]string{"name": name, "path": path, "snake": strings.ToLower(strings.Join(words, "_")), "pascal": pascal}
}

// Fill returns the files of a new directory, by path. values has a checked value for every variable.
func (t *Template) Fill(values map[string]string) ([]Output, []diagnostics.Diagnostic) {
	var problems []diagnostics.Diagnostic
	var list []Output
	from := make(map[string]string)
	value := func(name string, _ int) (string, bool) { text, ok := values[name]; return text, ok }
	for _, f := range t.files {
		source := diagnostics.Pos{File: path.Join(t.Dir, f.path)}
		data := f.data
		name, filled := strings.CutSuffix(replace(f.path, value), Suffix)
		if filled {
			data = []byte(replace(string(data), value))
		}
		if why := badPath(name); why != "" {
			problems = append(problems, source.Error(RuleInvalid, "the path of the new file would be %q, which %s", name, why))
			continue
		}
		if other, twice := from[name]; twice {
			problems = append(problems, source.Error(RuleInvalid, "the new file would be %q, as that of %s", name, other))
			continue
		}
		from[name] = source.File
		list = append(list, Output{name, data, f.mode})
	}
	slices.SortFunc(list, func(a, b Output) int { return strings.Compare(a.Path, b.Path) })
	return list, problems
}

// maxReference bounds a reference in bytes.
const maxReference = 200

// badPath returns why a path cannot be one of a new file, "" if it can.
func badPath(name string) string {
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "" || part == "." || part == "..":
			return fmt.Sprintf("has the part %q", part)
		case strings.EqualFold(part, ".git") || strings.EqualFold(part, ".bento"):
			return "leads into " + part
		case strings.ContainsRune(part, '\\') || strings.ContainsFunc(part, unicode.IsControl):
			return "has a backslash or a control character"
		}
	}
	return ""
}

// replace replaces each reference {{ name }} in a text by the value that a function returns for the name and the number
// of the line. A reference without a value stays. So does any other text in braces, such as {{ .Field }} and ${{ name }}.
func replace(text string, value func(name string, line int) (string, bool)) string {
	var b strings.Builder
	line := 1
	for {
		before, rest, found := strings.Cut(text, "{{")
		b.WriteString(before)
		line += strings.Count(before, "\n")
		if !found {
			return b.String()
		}
		inner, _, closed := strings.Cut(rest[:min(len(rest), maxReference)], "}}")
		whole := "{{" + inner + "}}"
		name := reference(whole)
		if !closed || name == "" || strings.HasSuffix(before, "$") || strings.HasSuffix(before, "{") {
			b.WriteString("{{")
			text = rest
			continue
		}
		if by, ok := value(name, line); ok {
			b.WriteString(by)
		} else {
			b.WriteString(whole)
		}
		text = rest[len(inner)+len("}}"):]
	}
}

// reference returns the name in "{{ name }}", "" for any other text.
func reference(text string) string {
	name := strings.Trim(strings.TrimSuffix(strings.TrimPrefix(text, "{{"), "}}"), " ")
	for i, r := range name {
		if !(r >= 'a' && r <= 'z' || i > 0 && (r == '_' || r >= '0' && r <= '9')) {
			return ""
		}
	}
	return name
}
