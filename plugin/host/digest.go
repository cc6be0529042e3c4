package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/bentobuild/bento/internal/stat"
	"github.com/bentobuild/bento/internal/state"
)

// Digests returns the digests of executables. It remembers them in the workspace's state,
// by the file's stat. A nil *Digests works and remembers nothing. It is safe for concurrent
// use.
type Digests struct {
	dir  *state.Dir
	load sync.Once

	mu      sync.Mutex
	changed bool
	known   map[string]known // by path
}

// known is the digest of a file with this stat.
type known struct {
	Stat   string `json:"stat"`
	Digest string `json:"digest"`
}

const (
	digestsFile    = "plugin-digests"
	digestsVersion = 1
	maxKnown       = 1000
	// settled is how old a file's times must be, so that no later change can keep them.
	settled = 2 * time.Second
)

// NewDigests returns the digests remembered in dir.
func NewDigests(dir *state.Dir) *Digests { return &Digests{dir: dir} }

// Executable returns the SHA-256 of the file at path, in hexadecimal. For a file that can
// be run but not read it returns a text made from the file's stat.
func (d *Digests) Executable(path string) string {
	fi, err := os.Stat(path)
	if err != nil {
		return "absent"
	}
	text := stat.Text(fi)
	if digest, ok := d.recall(path, text); ok {
		return digest
	}
	digest, err := sum(path)
	if err != nil {
		return "unreadable " + text
	}
	if after, err := os.Stat(path); err == nil && stat.Text(after) == text && time.Since(stat.Changed(fi)) > settled {
		d.remember(path, known{Stat: text, Digest: digest})
	}
	return digest
}

// Save writes new digests to the state. Callers may ignore the error.
func (d *Digests) Save() error {
	if d == nil {
		return nil
	}
	payload, err := d.unsaved()
	if err != nil || payload == nil {
		return err
	}
	return d.dir.Store(digestsFile, digestsVersion, payload)
}

// unsaved returns the bytes to save, nil when nothing is new.
func (d *Digests) unsaved() ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.changed {
		return nil, nil
	}
	d.changed = false
	return json.Marshal(d.known)
}

func (d *Digests) recall(path, stat string) (string, bool) {
	if d == nil {
		return "", false
	}
	d.load.Do(func() {
		if payload, err := d.dir.Load(digestsFile, digestsVersion); err == nil {
			_ = json.Unmarshal(payload, &d.known) // a damaged file is empty
		}
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	if k := d.known[path]; k.Stat == stat {
		return k.Digest, true
	}
	for _, k := range d.known { // one file may have several names: the stat has its inode
		if k.Stat == stat {
			return k.Digest, true
		}
	}
	return "", false
}

func (d *Digests) remember(path string, k known) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == nil || len(d.known) >= maxKnown {
		d.known = make(map[string]known)
	}
	d.known[path] = k
	d.changed = true
}

func sum(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Stat returns the inode and times of the file at path as text, "" when it is missing. If
// isSettled, an equal text means an equal file: the times are old enough that no change can
// keep them.
func Stat(path string) (text string, isSettled bool) {
	fi, err := os.Stat(path)
	if err != nil {
		return "", false
	}
	return stat.Text(fi), time.Since(stat.Changed(fi)) > settled
}
