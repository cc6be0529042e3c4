package maven

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// linters returns the plugins that check sources, and their goals. Those that need only
// sources can run without being bound to a phase.
func linters() []struct {
	plugin, goal string
	alone        bool
} {
	return []struct {
		plugin, goal string
		alone        bool
	}{
		{"maven-checkstyle-plugin", "checkstyle:check", true},
		{"spotless-maven-plugin", "spotless:check", true},
		{"fmt-maven-plugin", "fmt:check", true},
		{"formatter-maven-plugin", "formatter:validate", true},
		{"maven-pmd-plugin", "", false},
		{"spotbugs-maven-plugin", "", false},
		{"apache-rat-plugin", "", false},
		{"detekt-maven-plugin", "", false},
		{"ktlint-maven-plugin", "", false},
		{"animal-sniffer-maven-plugin", "", false},
		{"forbiddenapis", "", false},
	}
}

// lint returns the recipes of the project's linters: as part of the build where a linter is
// bound to it, else the goals of those that are configured.
func (r *recipes) lint(selection string) ([]adapters.Task, error) {
	var goals []string
	skip, rewriters := r.rewriters()
	for _, l := range linters() {
		has, bound := r.chain.Plugin(l.plugin)
		if bound && !slices.Contains(rewriters, l.plugin) {
			return []adapters.Task{{Name: "lint", Run: r.program + " -B -ntp" + selection + " verify -DskipTests" + skip}}, nil
		}
		if has && l.alone {
			goals = append(goals, l.goal)
		}
	}
	if len(goals) == 0 {
		return nil, nil
	}
	selection, err := r.selection(false)
	return []adapters.Task{{Name: "lint", Run: r.program + " -B -ntp" + selection + " " + strings.Join(goals, " ")}}, err
}

// rewriters returns the plugins that a build runs only to rewrite sources, and the options that have a build
// leave the sources as they are.
func (r *recipes) rewriters() (skip string, plugins []string) {
	for _, w := range []struct{ plugin, goal, skip string }{
		{"spotless-maven-plugin", "apply", "spotless.apply.skip"},
		{"fmt-maven-plugin", "format", "fmt.skip"},
		{"formatter-maven-plugin", "format", "formatter.skip"},
		{"ktlint-maven-plugin", "format", "ktlint.skip"},
		{"impsort-maven-plugin", "sort", "impsort.skip"},
		{"license-maven-plugin", "format", "license.skip"},
		{"sortpom-maven-plugin", "sort", "sort.skip"},
	} {
		goals := r.chain.Runs(w.plugin)
		if !slices.Contains(goals, w.goal) {
			continue
		}
		skip += " -D" + w.skip
		if len(goals) == 1 {
			plugins = append(plugins, w.plugin)
		}
	}
	return skip, plugins
}
