package host

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/owner"
)

// inherited is where a child finds the first file that is handed down to it.
const inherited = "/proc/self/fd/3"

// maxPinned bounds an executable that is copied.
const maxPinned = 1 << 30

// distrust says that a pinned file is not started.
func distrust(format string, args ...any) error {
	return &adapters.Failure{Code: adapters.NotTrusted, Message: fmt.Sprintf(format, args...)}
}

// trustInterpreter refuses a script whose interpreter others could have put there: what
// the script says is then of no account. One that env(1) looks for is looked for here
// too.
func trustInterpreter(start []byte, env adapters.Environ) error {
	line, _, _ := strings.Cut(string(start), "\n")
	line, isScript := strings.CutPrefix(line, "#!")
	words := strings.Fields(line)
	if !isScript || len(words) == 0 {
		return nil
	}
	programs := words[:1]
	if filepath.Base(words[0]) == "env" {
		named := slices.IndexFunc(words[1:], func(w string) bool { return !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") })
		if named < 0 {
			return nil
		}
		if path, err := env.LookPath(words[1+named]); err == nil {
			programs = append(programs, path)
		}
	}
	ways := owner.Trusted{}.Ways()
	for _, path := range programs {
		e, err := ways.To(path)
		if err != nil {
			return distrust("its interpreter cannot be looked at: %v", err)
		}
		if e != nil {
			return distrust("its interpreter is %s, and %s", path, e.Why)
		}
	}
	return nil
}
