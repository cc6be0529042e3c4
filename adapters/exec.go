package adapters

import (
	"fmt"
	"slices"
	"strings"
)

// ExecOutput is what the command of Manifest.Exec printed.
type ExecOutput struct {
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
}

// versionWords are the arguments that ask a tool for its version. None of them is code, a file or an
// address.
var versionWords = [...]string{
	"version", "--version", "-version", "-V", "-v", "-vV", "--numeric-version", "-dumpversion", "-dumpfullversion", "-dumpmachine",
}

// machineTools act on the machine, and not all of them read their arguments first.
var machineTools = [...]string{"halt", "init", "kexec", "poweroff", "reboot", "shutdown", "systemctl", "telinit"}

// CheckExec returns an error for a Manifest.Exec that bento does not run: commands that only look
// start it, and the author of the adapter has chosen it.
func CheckExec(argv []string) error {
	switch {
	case len(argv) != 2:
		return fmt.Errorf("expected the name of a tool and one argument, got %d words", len(argv))
	case !isBareName(argv[0]):
		return fmt.Errorf("expected the name of a tool on PATH, got %.60q", argv[0])
	case slices.Contains(machineTools[:], argv[0]):
		return fmt.Errorf("expected the tool of a language, got %q", argv[0])
	case !slices.Contains(versionWords[:], argv[1]):
		return fmt.Errorf("expected one of the arguments %s, got %.60q", strings.Join(versionWords[:], " "), argv[1])
	}
	return nil
}

// isBareName reports whether a word names a program on PATH and nothing else.
func isBareName(name string) bool {
	for i, c := range []byte(name) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._+-", rune(c))) {
			return false
		}
	}
	return name != "" && len(name) <= 64
}
