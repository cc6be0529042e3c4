package discovery

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
)

// RuleUnknownLanguage is the rule of a language without an adapter.
const RuleUnknownLanguage = "unknown_language"

// byLanguage returns the adapter that dish.toml names, or reports why it has none.
func (f *finder) byLanguage(ctx context.Context, language dish.Text) (adapters.Adapter, []diagnostics.Diagnostic) {
	id := language.Text
	if id == dish.NoLanguage {
		return nil, nil
	}
	failure := f.Failures[id]
	if a := f.Registry.ByID(id); a != nil {
		if err := adapters.Start(ctx, a); !errors.As(err, &failure) {
			return a, nil // its answers report other failures
		}
	}
	if failure != nil {
		d := language.Pos.Error(string(failure.Code), "language %q: %v", id, failure)
		d.Hint = failure.Hint
		return nil, []diagnostics.Diagnostic{d}
	}
	for _, c := range f.Candidates {
		if c.ID == id && c.Skip != "" {
			rule := "plugin_" + c.Skip
			return nil, []diagnostics.Diagnostic{language.Pos.Error(rule, "language %q: the plugin %s is not used: %s", id, c.Path, c.SkipReason)}
		}
	}
	return nil, []diagnostics.Diagnostic{f.unknownLanguage(language)}
}

func (f *finder) unknownLanguage(language dish.Text) diagnostics.Diagnostic {
	d := language.Pos.Error(RuleUnknownLanguage, "unknown language %q: no adapter has this id", language.Text)
	known := append(f.Registry.IDs(), dish.NoLanguage)
	for _, c := range f.Candidates {
		known = append(known, c.ID)
	}
	d.Hint = SuggestLanguage(language.Text, known)
	if near := diagnostics.Nearest(language.Text, known); len(near) == 0 && config.ValidPluginID(language.Text) {
		d.Message += ", and no executable " + PluginPrefix + language.Text + " is on PATH"
	}
	return d
}

// aliases returns the ids of adapters, and the names of runtimes, by other names of their languages.
func aliases() map[string][]string {
	node := []string{"node", "node-npm", "node-pnpm", "node-yarn", "bun"}
	return map[string][]string{
		"node": node, "nodejs": node, "js": node, "javascript": node, "ts": node, "typescript": node,
		"rust": {"cargo"}, "golang": {"go"}, "java": {"maven", "gradle"}, "kotlin": {"gradle"}, "jvm": {"java", "maven", "gradle"}, "jdk": {"java"},
		"py": {"python", "python-uv"}, "python3": {"python", "python-uv"}, "pip": {"python"}, "poetry": {"python"}, "uv": {"python-uv"},
		"npm": {"node-npm"}, "pnpm": {"node-pnpm"}, "yarn": {"node-yarn"}, "mvn": {"maven"}, "rb": {"ruby"}, "bundler": {"ruby"},
		"composer": {"php"},
	}
}

// SuggestLanguage is diagnostics.Suggest for the ids of adapters and the names of runtimes, and knows other names of languages.
func SuggestLanguage(word string, known []string) string {
	var ids []string
	for _, id := range aliases()[strings.ToLower(word)] {
		if slices.Contains(known, id) {
			ids = append(ids, strconv.Quote(id))
		}
	}
	if len(ids) > 0 {
		return "did you mean " + strings.Join(ids, " or ") + "?"
	}
	return diagnostics.Suggest(word, known)
}
