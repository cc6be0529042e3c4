package host

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/owner"
)

// inherited is the path under which a child opens the first inherited file.
const inherited = "/proc/self/fd/3"

// maxPinned is the size limit of a copied executable, in bytes.
const maxPinned = 1 << 30

// distrust returns the failure of a pinned file that is not started.
func distrust(format string, args ...any) error {
	return &adapters.Failure{Code: adapters.NotTrusted, Message: fmt.Sprintf(format, args...)}
}

// startLength is how much of a file the kernel reads to find its interpreter.
const startLength = 256

// maxInterpreters is how long a chain of interpreters may be. The kernel follows fewer.
const maxInterpreters = 8

// isPlainOption reports whether s is an option of an interpreter that names no file and no program.
func isPlainOption(s string) bool {
	name, dash := strings.CutPrefix(s, "-")
	return dash && name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// trustInterpreter refuses a script whose interpreter other users may replace, since they could then run
// any code. If an interpreter is a script, its interpreter is checked too.
func trustInterpreter(start []byte, env adapters.Environ) error {
	ways := owner.Trusted{}.Ways()
	for range maxInterpreters {
		programs, err := interpreters(start, env)
		if err != nil || len(programs) == 0 {
			return err
		}
		for _, path := range programs {
			e, err := ways.To(path)
			if err != nil {
				return distrust("its interpreter cannot be read: %v", err)
			}
			if e != nil {
				return distrust("its interpreter is %s, and %s", path, e.Why)
			}
		}
		// env(1) itself is trusted: the last program decides. The loop refuses an env that
		// is a script.
		if start, err = startOf(programs[len(programs)-1]); err != nil {
			return distrust("its interpreter cannot be read: %v", err)
		}
		if len(programs) > 1 {
			if first, err := startOf(programs[0]); err != nil || bytes.HasPrefix(first, []byte("#!")) {
				return distrust("its interpreter %s is a script, required the program env", programs[0])
			}
		}
	}
	return distrust("its interpreter is a script, whose interpreter is one, and so on: more than %d", maxInterpreters)
}

// interpreters returns the programs that the first line of a script starts, none when it is
// not a script. It accepts only "#!/path", "#!/path -option" and "#!/path/env name", where
// env(1) looks for the name in PATH.
func interpreters(start []byte, env adapters.Environ) ([]string, error) {
	line, isScript := strings.CutPrefix(string(start), "#!")
	if !isScript {
		return nil, nil
	}
	line, _, whole := strings.Cut(line, "\n")
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' }) // as the kernel does
	odd := func(r rune) bool { return r != '\t' && unicode.IsControl(r) }
	if !whole && len(start) >= startLength || len(words) == 0 || !filepath.IsAbs(words[0]) || strings.ContainsFunc(line, odd) {
		return nil, notUnderstood(line)
	}
	isEnv := isProgram(words[0], "env")
	switch {
	case len(words) == 1 && !isEnv, len(words) == 2 && !isEnv && isPlainOption(words[1]):
		return words[:1], nil
	case len(words) != 2 || !isEnv || strings.HasPrefix(words[1], "-") || strings.ContainsAny(words[1], "=/"):
		return nil, notUnderstood(line)
	}
	// env(1) also looks in directories that LookPath ignores.
	if slices.ContainsFunc(filepath.SplitList(env.Get("PATH")), func(dir string) bool { return !filepath.IsAbs(dir) }) {
		return nil, distrust("its first line is %q, and PATH has a directory that is not absolute; remove it from PATH", "#!"+line)
	}
	path, err := env.LookPath(words[1])
	switch {
	case err != nil:
		return nil, distrust("its interpreter %s is not found in PATH", words[1])
	case isProgram(path, "env"):
		return nil, notUnderstood(line)
	}
	return []string{words[0], path}, nil
}

// isProgram reports whether a path, or the target of its links, has a name.
func isProgram(path, name string) bool {
	real, err := filepath.EvalSymlinks(path)
	return filepath.Base(path) == name || err == nil && filepath.Base(real) == name
}

func notUnderstood(line string) error {
	return distrust("its first line is %q, required \"#!\" with an absolute path and at most one option, or \"#!/usr/bin/env name\"; "+
		"change the line, or take from others the right to write to the file and its directories", "#!"+line)
}

// startOf returns the bytes of a program in which the kernel finds its interpreter.
func startOf(path string) ([]byte, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	start := make([]byte, startLength)
	n, err := io.ReadFull(f, start)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return start[:n], nil
}
