package extension

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/rawfile"
)

// Approvals are the extensions that the user has approved: a file for each workspace and id. They
// lie outside of every workspace. Concurrent processes may use them.
type Approvals struct {
	Dir string // absolute; made by the first approval
}

// StateDir returns the directory of what bento keeps for a user: $XDG_STATE_HOME/bento, or
// ~/.local/state/bento. It returns "" where neither variable is an absolute path.
func StateDir(getenv func(string) string) string {
	dir := getenv("XDG_STATE_HOME")
	if home := getenv("HOME"); !filepath.IsAbs(dir) {
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "bento")
}

// approval is the content of a file. Root and ID are for people, and confirm the name of the file.
type approval struct {
	Root   string `json:"root"`
	ID     string `json:"id"`
	Digest string `json:"digest"`
}

// maxApproval is the largest size of a file in bytes.
const maxApproval = 64 << 10

// Approve approves an extension of the workspace at root, whose files have the digest. It replaces
// an earlier approval.
func (a *Approvals) Approve(root, id, digest string) error {
	if err := rawfile.MkdirAll(a.Dir, 0o700); err != nil {
		return err
	}
	dir, err := owndir.OpenOwn(a.Dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	data, err := json.Marshal(approval{root, id, digest})
	if err != nil {
		return err
	}
	return dir.ReplaceAs(approvalName(root, id), 0o600, append(data, '\n'))
}

// Revoke removes an approval. It reports whether there was one.
func (a *Approvals) Revoke(root, id string) (bool, error) {
	dir, err := owndir.OpenOwn(a.Dir)
	if err == nil {
		defer dir.Close()
		err = dir.Remove(approvalName(root, id))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Digest returns the approved digest of an extension of the workspace at root, "" if there is none.
// A damaged file is an error.
func (a *Approvals) Digest(root, id string) (string, error) {
	dir, err := owndir.OpenOwn(a.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer dir.Close()
	f, _, err := dir.Open(approvalName(root, id))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxApproval))
	if err != nil {
		return "", err
	}
	var found approval
	if json.Unmarshal(data, &found) != nil || found.Root != root || found.ID != id || found.Digest == "" {
		return "", fmt.Errorf("%q is no approval of the extension %s of %q", f.Name(), id, root)
	}
	return found.Digest, nil
}

// approvalName returns the name of a file. A path has no NUL byte.
func approvalName(root, id string) string {
	sum := sha256.Sum256([]byte(root + "\x00" + id))
	return hex.EncodeToString(sum[:]) + ".json"
}
