package companion

import (
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/state"
)

// The bounds of what is kept of one extension.
const (
	maxLines     = 2000
	maxLogBytes  = 256 << 10
	maxLine      = 4 << 10 // bytes of one line
	maxDecisions = 2000
)

const journalVersion = 1

// Journal is the end of what one extension logged, and the last decisions about its requests. It is
// safe for concurrent use.
type Journal struct {
	mu        sync.Mutex
	Lines     []report.ExtensionLine     `json:"lines"`
	Decisions []report.ExtensionDecision `json:"decisions"`
	bytes     int
	changed   bool
}

// Log adds a line.
func (j *Journal) Log(level, text string) {
	if len(text) > maxLine {
		text = text[:maxLine] + "…"
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.add(report.ExtensionLine{Time: time.Now().UTC(), Level: level, Text: strings.ToValidUTF8(text, "�")})
	j.changed = true
}

func (j *Journal) add(l report.ExtensionLine) {
	j.Lines = append(j.Lines, l)
	j.bytes += len(l.Text)
	first := 0
	for n := len(j.Lines); n-first > maxLines || j.bytes > maxLogBytes; first++ {
		j.bytes -= len(j.Lines[first].Text)
	}
	if first > 0 {
		j.Lines = append(j.Lines[:0], j.Lines[first:]...)
	}
}

// Decide adds a decision.
func (j *Journal) Decide(d report.ExtensionDecision) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.Decisions = append(j.Decisions, d)
	if over := len(j.Decisions) - maxDecisions; over > 0 {
		j.Decisions = append(j.Decisions[:0], j.Decisions[over:]...)
	}
	j.changed = true
}

func journalName(id string) string { return "extensions/" + id }

// LoadJournal returns what was kept of an extension, an empty journal if there is nothing.
func LoadJournal(st *state.Dir, id string) *Journal {
	data, err := st.Load(journalName(id), journalVersion)
	old := new(Journal)
	if err != nil || json.Unmarshal(data, old) != nil {
		return new(Journal)
	}
	j := &Journal{Decisions: old.Decisions[max(0, len(old.Decisions)-maxDecisions):]}
	for _, l := range old.Lines {
		j.add(l)
	}
	return j
}

// save adds the journal to what was kept before. Of two processes that save at once, one counts.
func (j *Journal) save(st *state.Dir, id string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.changed {
		return nil
	}
	all := LoadJournal(st, id)
	for _, l := range j.Lines {
		all.add(l)
	}
	all.Decisions = append(all.Decisions, j.Decisions...)
	all.Decisions = all.Decisions[max(0, len(all.Decisions)-maxDecisions):]
	data, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return st.Store(journalName(id), journalVersion, data)
}
