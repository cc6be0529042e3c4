package record

import (
	"bytes"
	"cmp"
	"strings"
	"sync"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/state"
)

// dir is the directory of the journals. Each bento that changes the workspace has one.
const dir = "journal"

// A journal is magic and a list of entries: the length, a checksum, and the fields of each. The last
// entry may be cut: then its change has not begun.
const (
	magic    = "bento\x00jo1"
	sumSize  = 8
	maxSize  = 256 << 20 // the part of a journal that is read
	maxEntry = 64 << 20
)

// journalEntry is what one task is about to change.
type journalEntry struct {
	Task  string   // see plan.Task.Place
	Dish  string   // its path
	Globs []string // the outputs of a task that is executed
	// Paths are files that exist there already and that the task has not made; without Globs they are
	// the files to restore.
	Paths []string
}

// journal is the journal of one run. It is safe for concurrent use.
type journal struct {
	state *state.Dir
	mu    sync.Mutex
	file  *state.Claimed
	err   error
}

// NewJournal returns an empty journal. Its file is made by the first Note.
func NewJournal(d *state.Dir) *journal { return &journal{state: d} }

// Note writes an entry. After the first failed write there is no journal, and Note returns that
// error.
func (j *journal) Note(e journalEntry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	if j.file == nil {
		if j.file, j.err = j.state.Claim(dir); j.err != nil {
			return j.err
		}
		if _, j.err = j.file.Write([]byte(magic)); j.err != nil {
			return j.err
		}
	}
	_, j.err = j.file.Write(encode(e))
	return j.err
}

// Close removes the journal: the history has all its entries now.
func (j *journal) Close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file != nil {
		_ = j.file.Remove()
		j.file = nil
	}
}

// JournalLeft reports whether a bento has left a journal because it was killed.
func JournalLeft(d *state.Dir) bool {
	list, err := journalLeft(d)
	for _, l := range list {
		l.file.Close()
	}
	return len(list) > 0 || err != nil
}

// abandoned is a journal that a killed bento has left.
type abandoned struct {
	file    *state.Claimed
	entries []journalEntry
}

// journalLeft claims and reads the journals that killed bentos have left. It skips files that are no
// journals.
func journalLeft(d *state.Dir) (list []abandoned, err error) {
	for _, file := range d.Abandoned(dir) {
		data, e := file.ReadAll(maxSize)
		if err = cmp.Or(err, e); err != nil || !isJournal(data) {
			file.Close()
			continue
		}
		list = append(list, abandoned{file, decode(data)})
	}
	return list, err
}

// isJournal reports whether data is a journal, which may have been cut anywhere.
func isJournal(data []byte) bool {
	return strings.HasPrefix(magic, string(data)) || bytes.HasPrefix(data, []byte(magic)) || len(decode(data)) > 0
}

// replayJournal calls f with the entries of every journal that was left, in order, and removes the
// journals if done returns no error.
func replayJournal(d *state.Dir, f func(journalEntry), done func() error) error {
	list, err := journalLeft(d)
	for _, l := range list {
		defer l.file.Close()
		for _, e := range l.entries {
			f(e)
		}
	}
	if err := cmp.Or(err, done()); err != nil {
		return err
	}
	for _, l := range list {
		if err := l.file.Remove(); err != nil {
			return err
		}
	}
	return nil
}

func encode(e journalEntry) []byte {
	var fields, w pack.Writer
	fields.String(e.Task)
	fields.String(e.Dish)
	fields.Strings(e.Globs)
	fields.Strings(e.Paths)
	sum := blake3.Sum256(fields.Payload())
	w.Uint(uint64(len(fields.Payload())))
	w.Raw(sum[:sumSize])
	w.Raw(fields.Payload())
	return w.Payload()
}

// decode returns the entries before the first incomplete one.
func decode(data []byte) []journalEntry {
	data = bytes.TrimPrefix(data, []byte(magic)) // journals of older bentos have no magic
	var list []journalEntry
	for r := pack.NewReader(data); ; {
		size := r.Uint()
		sum := r.Raw(sumSize)
		fields := r.Raw(min(size, maxEntry))
		want := blake3.Sum256(fields)
		if len(fields) == 0 || !bytes.Equal(sum, want[:sumSize]) {
			return list
		}
		f := pack.NewReader(fields)
		e := journalEntry{Task: f.String(), Dish: f.String(), Globs: f.Strings(), Paths: f.Strings()}
		if f.End() != nil {
			return list
		}
		list = append(list, e)
	}
}
