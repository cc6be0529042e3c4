package python

import (
	"fmt"

	"github.com/bentobuild/bento/adapters/python/requirements"
	"github.com/bentobuild/bento/diagnostics"
)

// RuleUnlocked is the rule of the warning about requirements that only poetry would
// install.
const RuleUnlocked = "no_poetry_lock"

// warnings reports requirements that pip, which installs without a poetry.lock, does not
// read. Bento does not run poetry instead: poetry would write a lockfile, and only the
// project's authors decide whether it has one.
func (p *project) warnings() []diagnostics.Diagnostic {
	if p.poetry {
		return nil
	}
	if len(p.Poetry) > 0 && !p.canBuild() && len(p.files) == 0 {
		return unlocked(p.Poetry[0], "tool.poetry.dependencies")
	}
	for _, g := range p.Groups {
		for _, r := range g.Requirements {
			if g.Poetry && p.lacks(r.Name) {
				return unlocked(r, fmt.Sprintf("the group %q of tool.poetry, where %s is", g.Name, r.Name))
			}
		}
	}
	return nil
}

// lacks reports whether a recipe would use a tool that no part of the install brings.
func (p *project) lacks(name string) bool {
	for _, t := range p.tools {
		if t.Name == name {
			return !t.Declared
		}
	}
	return false
}

func unlocked(at requirements.Requirement, what string) []diagnostics.Diagnostic {
	return []diagnostics.Diagnostic{{
		File: at.File, Line: at.Line, Severity: diagnostics.Warning, Rule: RuleUnlocked, Source: diagnostics.Source,
		Message: "without poetry.lock pip installs, and pip does not read " + what, Hint: `run "poetry lock"`,
	}}
}
