package python

import (
	"fmt"

	"github.com/bentobuild/bento/adapters/python/requirements"
	"github.com/bentobuild/bento/diagnostics"
)

// RuleUnlocked is the rule of the warning of what only poetry would install.
const RuleUnlocked = "no_poetry_lock"

// warnings tells what pip, which installs where there is no poetry.lock, does not read.
// Poetry cannot be had in its place: it installs nothing without a lockfile of its own
// making, and whether a project keeps one is for its people to say.
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

// lacks tells of a tool that recipes would use and that nothing else brings.
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
		Message: "without poetry.lock it is pip that installs, which does not read " + what, Hint: `run "poetry lock"`,
	}}
}
