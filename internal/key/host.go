package key

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
)

// hostPrefix starts the names of the ingredients for files outside of the workspace.
const hostPrefix = "host file "

// HostPath returns the absolute path of an element of host_inputs: "~/" stands for the user's home.
func HostPath(env adapters.Environ, name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(env.Get("HOME"), rest)
	}
	return name
}

// addHost adds what the host inputs of ev's task hold. The records have no digest that another user could compare: such
// a file may hold a token.
func (e *Evaluator) addHost(b *builder, ev *Evaluation) error {
	t := ev.Task
	ev.host = nil
	for _, name := range t.HostInputs {
		sum, err := hostSum(HostPath(e.o.Environ, name))
		if err != nil {
			return diagnostics.Problems{{
				Severity: diagnostics.Error, Rule: "host_input_unreadable", Message: fmt.Sprintf("%s: the file %q of host_inputs cannot be read: %v", t.ID(), name, err),
				Hint: "make it readable, or remove it from host_inputs",
			}}
		}
		ev.host = append(ev.host, sum)
		b.Env(hostPrefix+name, sum, sum != "")
	}
	return nil
}

// HostChanged returns the first host input of ev that is not as it was when the key was made, "" for none.
func (f Files) HostChanged(ev *Evaluation) string {
	for i, name := range ev.Task.HostInputs {
		if sum, err := hostSum(HostPath(f.e.o.Environ, name)); err != nil || i >= len(ev.host) || sum != ev.host[i] {
			return name
		}
	}
	return ""
}

// hostSum returns the digest of a file, in hex; "" for a missing one.
func hostSum(name string) (string, error) {
	fi, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if !fi.Mode().IsRegular() {
		return "", errors.New("required a file")
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := blake3.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
