package tree

import (
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/bentobuild/bento/diagnostics"
)

// A machine that has no descriptors or memory left, or whose disk fails, is at fault, and no file of the user's.
func TestFaultsOfTheMachine(t *testing.T) {
	for err, want := range map[error]string{
		syscall.EMFILE: diagnostics.RuleMachine, syscall.ENFILE: diagnostics.RuleMachine, syscall.ENOMEM: diagnostics.RuleMachine, syscall.EIO: diagnostics.RuleMachine,
		syscall.EACCES: ruleUnreadable, syscall.ELOOP: ruleUnreadable,
	} {
		d := unreadable("d/f", "file", &fs.PathError{Op: "open", Path: "f", Err: err})
		if d.Rule != want || d.File != "d/f" || d.Hint == "" || d.Severity != diagnostics.Error || d.Message != fmt.Sprintf("cannot read the file \"d/f\": %v", err) {
			t.Errorf("%v: %+v", err, d)
		}
	}
}
