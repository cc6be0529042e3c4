package main

import (
	"context"
	"errors"
	"path"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/owner"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/workspace"
)

// The exit codes.
const (
	exitOK          = 0
	exitTask        = 1   // a task or an install failed
	exitInput       = 2   // the user's input is wrong; nothing was run
	exitFault       = 3   // bento, a plugin or the machine failed
	exitUnrun       = 126 // a helper could not execute a task's program, as of a shell
	exitInterrupted = 130 // Ctrl-C
)

// usageError is a problem of the command line.
func usageError(message, hint string) error {
	if hint == "" {
		hint = "see bento --help"
	}
	return diagnostics.Refuse("usage", hint, "%s", message)
}

// exit reports err, if any, and returns the exit code.
func (s *session) exit(ctx context.Context, err error) int {
	if ctx.Err() != nil {
		return exitInterrupted // whatever the result
	}
	if err == nil {
		return s.outcome
	}
	var problems diagnostics.Problems
	var missing *adapters.MissingTool
	if errors.As(err, &missing) {
		err = diagnostics.Refuse("missing_tool", missing.Hint, "%v", missing)
	}
	var refused *state.RefusedError // also the error of a refused cache directory
	if errors.As(err, &refused) {
		err = diagnostics.Refuse("directory_refused", refused.Hint, "%v", err)
	}
	var guest *owner.GuestError
	if errors.As(err, &guest) {
		err = diagnostics.Refuse("state_unwritable", guest.Hint(), "%v", guest)
	}
	report.WriteError(s.err, s.style, err)
	if s.flags.json {
		doc := report.NewError(err)
		root := newRoot(&session{process: s.process}, "")
		doc.Steer(func(hint string) []string { return commandsIn(root, hint) })
		doc.Correct(s.line)
		if werr := report.Write(s.out, doc); werr != nil {
			report.WriteError(s.err, s.style, werr)
			return exitFault
		}
	}
	if errors.As(err, &problems) && !(s.strict && slices.ContainsFunc(problems, isPluginFault)) {
		return exitInput
	}
	return exitFault
}

// isPluginFault reports whether a problem is a plugin that the workspace needs and that failed. CI
// must tell it from a wrong configuration. The language of a dish is such a configuration, whatever is
// the matter with the plugin that it names.
func isPluginFault(d diagnostics.Diagnostic) bool {
	return d.Severity == diagnostics.Error && (d.Rule == workspace.RulePluginLost || adapters.IsCode(d.Rule) && path.Base(d.File) != dish.File)
}

// exitOf returns the exit code of a run.
func exitOf(r *run.Report) int {
	code := exitOK
	if r.Interrupted {
		return exitInterrupted
	}
	for _, res := range r.Results {
		if res.Outcome != run.Failed || res.Task.LacksAdapter() != nil {
			continue // a missing adapter is an error of the input, also with --keep-going
		}
		if res.Failure != nil || res.Reason == run.ReasonMachine {
			return exitFault
		}
		code = exitTask
	}
	for _, i := range r.Installs {
		if i.Err != nil {
			code = max(code, exitOfInstall(i.Err))
		}
	}
	return code
}

// exitOfInstall returns exitTask for a failed install, exitFault for a failed adapter.
func exitOfInstall(err error) int {
	var failure *adapters.Failure
	if errors.As(err, &failure) {
		return exitFault
	}
	return exitTask
}
