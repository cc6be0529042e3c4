// Package problem says what a walk finds wrong.
package problem

import (
	"fmt"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tree/disk"
)

// The rules.
const (
	RuleUnreadable    = "unreadable"
	RuleSpecial       = "special_file"
	RuleCostlyIgnores = "costly_ignores"
)

// Unreadable says that something of the kind what cannot be read.
func Unreadable(path, what string, err error) diagnostics.Diagnostic {
	if diagnostics.IsMachineFault(err) {
		return diagnostics.Diagnostic{
			File: path, Severity: diagnostics.Error, Rule: diagnostics.RuleMachine, Source: diagnostics.Source,
			Message: fmt.Sprintf("cannot read the %s %q: %v", what, path, disk.Bare(err)),
			Hint:    diagnostics.MachineAdvice,
		}
	}
	return diagnostics.Diagnostic{
		File: path, Severity: diagnostics.Error, Rule: RuleUnreadable, Source: diagnostics.Source,
		Message: fmt.Sprintf("cannot read the %s %q: %v", what, path, disk.Bare(err)),
		Hint:    "make it readable, have git ignore it, or name it in [workspace] exclude",
	}
}

// CostlyIgnores says that the patterns of an ignore file cost too much to match.
func CostlyIgnores(file string) diagnostics.Diagnostic {
	return diagnostics.Diagnostic{
		File: file, Severity: diagnostics.Warning, Rule: RuleCostlyIgnores, Source: diagnostics.Source, // more is found than meant, never less
		Message: fmt.Sprintf("the patterns of %q cost too much to match: expected at most 400000 steps for one path; what they have not decided by then is not ignored", file),
		Hint:    "write patterns with fewer wildcards in one line",
	}
}

// Special says that a file is none that can be read.
func Special(path string) diagnostics.Diagnostic {
	return diagnostics.Diagnostic{
		File: path, Severity: diagnostics.Error, Rule: RuleSpecial, Source: diagnostics.Source,
		Message: fmt.Sprintf("%q is a FIFO, a socket or a device, which cannot be an input", path),
		Hint:    "remove it, have git ignore it, or leave it out with a \"!\" glob",
	}
}
