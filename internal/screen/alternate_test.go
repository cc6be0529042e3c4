package screen

import (
	"strings"
	"testing"
)

// TestAlternate: what is drawn while Ctrl-Z stops a process does not get to the user's own screen.
func TestAlternate(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	a := NewAlternate(&out, "<", ">")
	a.Draw("early")
	a.Enter()
	a.Draw("1")
	a.Leave()
	a.Draw("late")
	a.Enter()
	a.Draw("2")
	a.Leave()
	if got := out.String(); got != "<1><2>" {
		t.Errorf("the terminal got %q", got)
	}
}
