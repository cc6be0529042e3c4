package snapshot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
)

// RuleUnmapped is the rule of a script that looks like a lifecycle task and is none.
const RuleUnmapped = "unmapped_script"

// A Script is a script of a project, at its place.
type Script struct {
	Name string
	File string // absolute
	Line int    // 1-based
}

// Unmapped returns a warning for each lifecycle task that tasks lack, the workspace names no scripts for and the
// name of a script suggests, about the first such script. Names in likely come before others.
func (s Scripts) Unmapped(scripts []Script, tasks []adapters.Task, likely []string) []diagnostics.Diagnostic {
	var list []diagnostics.Diagnostic
	for _, lifecycle := range adapters.Lifecycle() {
		if _, decided := s[lifecycle]; decided || slices.ContainsFunc(tasks, func(t adapters.Task) bool { return t.Name == lifecycle }) {
			continue
		}
		suggests := func(s Script) bool { return suggested(s.Name) == lifecycle }
		i := slices.IndexFunc(scripts, func(s Script) bool { return suggests(s) && slices.Contains(likely, s.Name) })
		if i < 0 {
			i = slices.IndexFunc(scripts, suggests)
		}
		if i >= 0 {
			list = append(list, unmapped(scripts[i], lifecycle))
		}
	}
	return list
}

func unmapped(s Script, lifecycle string) diagnostics.Diagnostic {
	return diagnostics.Diagnostic{
		File: s.File, Line: s.Line, Severity: diagnostics.Warning, Rule: RuleUnmapped, Source: diagnostics.Source,
		Message: fmt.Sprintf("no task %s runs the script %q", lifecycle, s.Name),
		Alike:   fmt.Sprintf("have the script %q, which no task %s runs", s.Name, lifecycle),
		Hint:    fmt.Sprintf("to have it run, write [workspace] scripts.%s = [%q] in bento.toml; [] there means that no script is", lifecycle, s.Name),
	}
}

// suggested returns the lifecycle task that the name of a script suggests by its first telling word, "" for
// none and for names that say that the script changes files, keeps running or belongs to a release.
func suggested(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune(":-_./", r) })
	task := ""
	for _, word := range words {
		switch word {
		case "watch", "fix", "dev", "debug", "update", "write", "serve", "start", "ui", "open", "coverage", "report", "install", "clean", "deploy", "publish", "release":
			return ""
		case "build", "compile":
			task = first(task, "build")
		case "check", "typecheck", "type", "types", "tsc":
			task = first(task, "check")
		case "lint", "eslint", "stylelint", "oxlint":
			task = first(task, "lint")
		case "test", "tests", "unit", "vitest", "jest", "mocha":
			task = first(task, "test")
		}
	}
	return task
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
