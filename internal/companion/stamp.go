package companion

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/bentobuild/bento/internal/stat"
)

// settled is the smallest age of the times of all files at which every later change changes them.
const settled = 2 * time.Second

// stampOf returns a text that changes whenever a file below dir changes, as far as the stats of the
// files show. It returns "" if that is unreliable: for a directory that digestOf refuses or that has
// just changed.
func stampOf(dir string) string { return stampAt(dir, time.Now()) }

func stampAt(dir string, now time.Time) string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	all, entries, newest := sha256.New(), 0, time.Time{}
	err = filepath.WalkDir(real, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entries++; entries > maxEntries {
			return fs.ErrInvalid
		}
		fi, err := e.Info()
		if err != nil {
			return err
		}
		if changed := stat.Changed(fi); changed.After(newest) {
			newest = changed
		}
		fmt.Fprintf(all, "%d %s %s\n", len(path), path, stat.Text(fi))
		return nil
	})
	if err != nil || now.Sub(newest) < settled {
		return ""
	}
	return hex.EncodeToString(all.Sum(nil))
}

// Recall returns the digest that a record has for a stamp, "" if it has none.
func (r *Record) Recall(stamp string) string {
	if stamp == "" || stamp != r.Stamp {
		return ""
	}
	return r.Stamped
}
