package workspace

import (
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/stat"
	"github.com/bentobuild/bento/internal/state"
)

// Program identifies this executable by its stat, which every build or install changes. If the executable is not
// found, Program returns a unique text, so that no saved result is used.
func Program() string {
	path, err := os.Executable()
	if err == nil {
		var fi fs.FileInfo
		if fi, err = os.Stat(path); err == nil {
			return path + " " + stat.Text(fi)
		}
	}
	return fmt.Sprint(err, os.Getpid(), time.Now().UnixNano())
}

// settings returns the digest of everything except files on which the answers of built-in adapters may depend. It
// includes only the variables that the adapters declare: they see no others. The digest is keyed, so it reveals no
// value.
func (h *Host) settings(this string, st *state.Dir, cfg *config.Workspace) string {
	var w pack.Writer
	w.Add(key.LocalSecret(st))
	w.Add(this)
	w.Add(*cfg)
	w.Add([]string(slices.DeleteFunc(h.declared(), ofTerminal)))
	sum := blake3.Sum256(w.Payload())
	return hex.EncodeToString(sum[:])
}

// declared returns the variables that at least one built-in adapter declares.
func (h *Host) declared() adapters.Environ {
	var manifests []*adapters.Manifest
	for _, a := range h.Adapters(snapshot.Options{}) {
		manifests = append(manifests, a.Manifest())
	}
	return h.Environ.Declared(manifests...)
}

// ofTerminal reports whether a variable describes the terminal in which bento was started, so that it differs between
// terminals. Tools see it, but no adapter uses it.
func ofTerminal(kv string) bool {
	name, _, _ := strings.Cut(kv, "=")
	switch name {
	case "TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "SSH_AUTH_SOCK", "XDG_SESSION_ID", "XDG_VTNR", "XDG_SEAT":
		return true
	}
	return false
}
