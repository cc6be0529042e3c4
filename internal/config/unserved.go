package config

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// unservedKey is a key of another tool, which bento reads and which has no effect.
type unservedKey struct {
	file    string // bento.toml or dish.toml
	key     string
	instead string
}

// unservedKeys returns these keys, each with its replacement.
func unservedKeys() []unservedKey {
	return []unservedKey{
		{dish.WorkspaceFile, "cache.gha", "save $BENTO_CACHE_DIR with actions/cache"},
		{dish.WorkspaceFile, "cache.remote_write_through", "bento cache push sends results of earlier runs"},
		{dish.WorkspaceFile, "telemetry", "bento sends nothing to anyone"},
		{dish.WorkspaceFile, "execution", "tasks run on this machine; write the container into the task's run"},
		{dish.WorkspaceFile, "environments", "name env_files, or set env, in [tasks.NAME] of dish.toml"},
		{dish.File, "package_manager", "bento takes it from the lockfile, or packageManager in package.json"},
		{dish.File, "serve", "write [tasks.dev] with run and persistent = true; bento watch restarts it after changes"},
		{dish.File, "integrations", "write a task, [tasks.NAME], which others name in depends_on"},
		{dish.File, "garnishes", "write a task, [tasks.NAME], which others name in depends_on"},
	}
}

// RuleUnserved is the rule of the warnings of unservedKeys.
const RuleUnserved = ruleUnsupported

// unserved warns of the keys of f that have no effect; kind is the name of files like f. Its messages
// start with the key.
func unserved(f *tomlfile.File, kind string) (problems []diagnostics.Diagnostic) {
	for _, u := range unservedKeys() {
		if v := f.Lookup(strings.Split(u.key, ".")...); v != nil && u.file == kind {
			problems = append(problems, v.KeyPos().Warning(RuleUnserved, "%s has no effect in bento", u.key).WithHint(u.instead))
		}
	}
	return problems
}

// setIgnored applies workspace.ignore_keys. It reports keys about which bento does not warn anyway.
func (w *Workspace) setIgnored(list []tomlfile.At[string]) (problems []diagnostics.Diagnostic) {
	var known []string
	for _, u := range unservedKeys() {
		known = append(known, u.key)
	}
	for _, k := range list {
		if k.Given && !slices.Contains(known, k.Value) {
			problems = append(problems, k.Pos.Error(diagnostics.RuleInvalid, "ignore_keys names %q, which is no key that bento ignores", k.Value).WithHint(diagnostics.Suggest(k.Value, known)))
		}
		w.IgnoreKeys = append(w.IgnoreKeys, k.Value)
	}
	return problems
}

// Silences reports whether d is a warning of a key that workspace.ignore_keys names.
func (w *Workspace) Silences(d diagnostics.Diagnostic) bool {
	key, _, _ := strings.Cut(d.Message, " ")
	return d.Rule == RuleUnserved && d.Severity == diagnostics.Warning && slices.Contains(w.IgnoreKeys, key)
}
