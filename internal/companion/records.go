package companion

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/rawfile"
)

// Records are the decisions of the user about extensions, and data that bento remembers of them: a
// file for each workspace and id. They are outside of every workspace. Several processes may use them
// at the same time.
type Records struct {
	Dir string // absolute; made by the first record
}

// Record is about one extension of one workspace. Its zero value is the record of an unknown
// extension.
type Record struct {
	Approved    string `json:"approved,omitempty"`    // the digest of the approved files
	Terms       string `json:"terms,omitempty"`       // the digest of what the approved table grants and sets in the environment
	Disabled    bool   `json:"disabled,omitempty"`    // by the user
	Quarantined string `json:"quarantined,omitempty"` // why bento no longer starts it
	Failures    string `json:"failures,omitempty"`    // of Fail
	Panels      string `json:"panels,omitempty"`      // the panels that it registered when it last ran, as JSON
	Warned      int64  `json:"warned,omitempty"`      // when a warning has named it as not approved, in seconds since 1970
	// Stamp is the stamp of the files whose digest is Stamped.
	Stamp   string `json:"stamp,omitempty"`
	Stamped string `json:"stamped,omitempty"`
}

// stored is the content of a file. Root and ID are for people, and confirm the name of the file.
type stored struct {
	Root string `json:"root"`
	ID   string `json:"id"`
	Record
}

// maxRecord is the largest size of a file in bytes.
const maxRecord = 64 << 10

// Change loads the record of an extension of the workspace at root, calls change, and saves the
// record. If two processes change one record at the same time, the later change remains. A damaged
// record is replaced.
func (r *Records) Change(root, id string, change func(*Record)) error {
	if err := rawfile.MkdirAll(r.Dir, 0o700); err != nil {
		return err
	}
	dir, err := owndir.OpenOwn(r.Dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	was, _ := load(dir, root, id)
	now := was
	if change(&now); now == was && was != (Record{}) {
		return nil
	}
	if now == (Record{}) {
		if err := dir.Remove(recordName(root, id)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	data, err := json.Marshal(stored{root, id, now})
	if err != nil {
		return err
	}
	return dir.ReplaceAs(recordName(root, id), 0o600, append(data, '\n'))
}

// Load returns the record of an extension of the workspace at root. A damaged file is an error.
func (r *Records) Load(root, id string) (Record, error) {
	dir, err := owndir.OpenOwn(r.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, nil
	}
	if err != nil {
		return Record{}, err
	}
	defer dir.Close()
	return load(dir, root, id)
}

func load(dir *owndir.Dir, root, id string) (Record, error) {
	f, _, err := dir.Open(recordName(root, id))
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, nil
	}
	if err != nil {
		return Record{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxRecord))
	if err != nil {
		return Record{}, err
	}
	var found stored
	if json.Unmarshal(data, &found) != nil || found.Root != root || found.ID != id || found.Record == (Record{}) {
		return Record{}, fmt.Errorf("%q is no record of the extension %s of %q", f.Name(), id, root)
	}
	return found.Record, nil
}

func recordName(root, id string) string { return recordKey(root, id) + ".json" }

// recordKey returns a name for an extension of the workspace at root that can be part of a path.
func recordKey(root, id string) string {
	sum := sha256.Sum256([]byte(root + "\x00" + id)) // a path has no NUL byte
	return hex.EncodeToString(sum[:])
}
