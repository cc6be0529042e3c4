package tree

import (
	"fmt"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tree/disk"
)

// The rules.
const (
	ruleUnreadable    = "unreadable"
	RuleSpecial       = "special_file"
	ruleCostlyIgnores = "costly_ignores"
)

// unreadable returns the problem of an unreadable file or directory. The text what names its kind.
func unreadable(path, what string, err error) diagnostics.Diagnostic {
	if diagnostics.IsMachineFault(err) {
		return diagnostics.Pos{File: path}.Error(diagnostics.RuleMachine, "cannot read the %s %q: %v", what, path, disk.Bare(err)).WithHint(diagnostics.MachineAdvice)
	}
	return diagnostics.Pos{File: path}.Error(ruleUnreadable, "cannot read the %s %q: %v", what, path, disk.Bare(err)).
		WithHint("make it readable, have git ignore it, or name it in [workspace] exclude")
}

// costlyIgnores returns the problem of an ignore file whose patterns cost too much to match.
func costlyIgnores(file string) diagnostics.Diagnostic {
	return diagnostics.Diagnostic{
		File: file, Severity: diagnostics.Warning, Rule: ruleCostlyIgnores, Source: diagnostics.Source, // too few files are ignored, never too many
		Message: fmt.Sprintf("the patterns of %q cost too much to match: expected at most 400000 steps for one path; a path undecided after that is not ignored", file),
		Hint:    "write patterns with fewer wildcards in one line",
	}
}
