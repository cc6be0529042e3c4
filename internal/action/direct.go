package action

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/bentobuild/bento/adapters"
)

// shellWords are the first words that mean something to a shell: reserved words and
// the commands built into dash, bash, ksh or the shell of busybox, some of which are
// programs too, which do not do quite the same.
var shellWords = strings.Fields(`
	. : alias bg bind break builtin caller case cd chdir command compgen complete compopt
	continue coproc declare dirs disown do done echo elif else enable esac eval exec exit
	export false fc fg fi for function getopts hash help history if in jobs kill let local
	logout mapfile popd printf print pushd pwd read readarray readonly return select set
	shift shopt source suspend test then time times trap true type typeset ulimit umask
	unalias unset until wait whence while`)

// idle are the programs that do the same as what is built into shells, when they are given
// nothing.
var idle = map[string]func() string{"true": system("true"), "false": system("false")}

// system finds a program of the system, once; "" when there is none.
func system(name string) func() string {
	return sync.OnceValue(func() string {
		for _, dir := range []string{"/bin", "/usr/bin"} {
			if file := filepath.Join(dir, name); runnable(file) {
				return file
			}
		}
		return ""
	})
}

// direct returns the program and the words of a command that means the same without a
// shell, which takes a millisecond to start: plain words, of which the first is a
// program. ok is false when only a shell can tell, also when there is no such
// program: a shell says so as people know it.
func (c *Commands) direct(env adapters.Environ, dir, run string) (program string, words []string, ok bool) {
	words, ok = plainWords(run)
	if !ok || c.Inherit || runtime.GOOS == "windows" { // what is inherited may define functions
		return "", nil, false
	}
	file := words[0]
	if strings.ContainsRune(file, '/') {
		program = file
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		return program, words, runnable(file)
	}
	for _, entry := range filepath.SplitList(env.Get("PATH")) {
		if !filepath.IsAbs(entry) {
			return "", nil, false // means a place in the task's directory
		}
	}
	program, err := env.LookPath(file)
	return program, words, err == nil && runnable(program)
}

// plainWords splits a command that is one line of words in which a shell would find
// nothing to do. It may have blanks and ends of lines around.
func plainWords(run string) (words []string, ok bool) {
	run = strings.Trim(run, " \t\n")
	for _, r := range run {
		plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(" \t-_./,:@%+=", r)
		if !plain {
			return nil, false
		}
	}
	if words = strings.Fields(run); len(words) == 0 || strings.ContainsRune(words[0], '=') {
		return nil, false
	}
	if slices.Contains(shellWords, words[0]) {
		return nil, false
	}
	return words, true
}

// runnable reports whether the kernel itself runs a file: a script that does not say of
// which interpreter is one for a shell, and of one that is missing a shell tells.
func runnable(file string) bool {
	if fi, err := os.Stat(file); err != nil || !fi.Mode().IsRegular() || fi.Mode()&0o111 == 0 {
		return false
	}
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := io.ReadFull(f, head)
	head = head[:n]
	if line, script := bytes.CutPrefix(head, []byte("#!")); script {
		line, _, _ = bytes.Cut(line, []byte("\n"))
		words := bytes.Fields(line)
		if len(words) == 0 {
			return false
		}
		_, err := os.Stat(string(words[0]))
		return err == nil
	}
	for _, magic := range []string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	return false
}
