package main

import (
	"errors"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/owner"
)

// warnGuest says what does not work for a user for whom bento keeps nothing here. It is
// of the kind of warnings that are said once.
func (w *opened) warnGuest() {
	var guest *owner.GuestError
	if errors.As(w.env.State.Guest(), &guest) {
		w.warnState(guest.Error()+": each command computes everything again, no lock keeps out another run, and there are no logs", guest.Hint())
	}
}

// warnState says, once, that something of the workspace cannot be kept.
func (w *opened) warnState(message, hint string) {
	w.env.Warn(diagnostics.Diagnostic{
		Severity: diagnostics.Warning, Rule: "state_unwritable", Message: message, Hint: hint, Source: diagnostics.Source,
	})
}
