package main

import (
	"errors"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/owner"
)

// warnGuest warns once that bento stores no state here for this user, and names the effects.
func (w *opened) warnGuest() {
	var guest *owner.GuestError
	if errors.As(w.env.State.Guest(), &guest) {
		w.warnState(guest.Error()+": each command computes everything again, no lock keeps out another run, and there are no logs", guest.Hint())
	}
}

// warnState warns once that bento cannot store state of the workspace.
func (w *opened) warnState(message, hint string) {
	w.env.Warn(diagnostics.Pos{}.Warning("state_unwritable", "%s", message).WithHint(hint))
}
