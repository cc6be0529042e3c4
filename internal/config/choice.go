package config

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// choice is one of a few words. A wrong word leaves it unset.
type choice[W interface{ words() []string }] struct {
	At tomlfile.At[string]
}

// Shape returns the schema.
func (c *choice[W]) Shape() tomlfile.Schema {
	var w W
	return tomlfile.Schema{"type": "string", "enum": w.words()}
}

// UnmarshalTOML reads and checks the word.
func (c *choice[W]) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	problems := v.Decode(&c.At)
	if len(problems) > 0 {
		return problems
	}
	var w W
	words, word := w.words(), c.At.Value
	if slices.Contains(words, word) {
		return nil
	}
	c.At.Given, c.At.Value = false, ""
	d := v.Pos().Error(diagnostics.RuleInvalid, "%q is not valid, expected %s", word, orList(words))
	if len(diagnostics.Nearest(word, words)) > 0 {
		d.Hint = diagnostics.Suggest(word, words)
	}
	return []diagnostics.Diagnostic{d}
}

func orList(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = `"` + w + `"`
	}
	if len(quoted) == 1 {
		return quoted[0]
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " or " + quoted[len(quoted)-1]
}
