package companion

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/plugin/sep"
)

// The bounds of the journal of one extension.
const (
	maxLines     = 2000
	maxLogBytes  = 256 << 10
	maxLine      = 4 << 10 // bytes of one line
	maxDecisions = 2000
)

const journalVersion = 3

// The first bytes of the records of a saved journal. Each record is a line, with JSON after the first byte. A run
// appends its records. It splits the records of earlier runs into lines, but does not parse their JSON.
const (
	lineRecord     = 'l'
	decisionRecord = 'd'
	countRecord    = 'c' // at most one
)

// Journal has the last log lines of one extension, the last decisions about its requests, and its counters. It is safe
// for concurrent use.
type Journal struct {
	mu        sync.Mutex
	Lines     []report.ExtensionLine
	Decisions []report.ExtensionDecision
	Counters  report.ExtensionCounters
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

// Count adds counters.
func (j *Journal) Count(c sep.Counters) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.Counters = sum(j.Counters, report.ExtensionCounters{
		Starts: c.Starts, Exits: c.Exits, Restarts: c.Restarts, FailedCalls: c.FailedCalls, Denied: c.Denied,
		HealthMisses: c.HealthMisses, Dropped: c.Dropped, Disabled: c.Disabled,
	})
	j.changed = j.changed || c != sep.Counters{}
}

func sum(a, b report.ExtensionCounters) report.ExtensionCounters {
	return report.ExtensionCounters{
		Starts: a.Starts + b.Starts, Exits: a.Exits + b.Exits, Restarts: a.Restarts + b.Restarts, FailedCalls: a.FailedCalls + b.FailedCalls, Denied: a.Denied + b.Denied,
		HealthMisses: a.HealthMisses + b.HealthMisses, Dropped: a.Dropped + b.Dropped, Disabled: a.Disabled + b.Disabled,
	}
}

func journalName(id string) string { return "extensions/" + id }

// loadJournal returns the saved journal of an extension, an empty one if none is saved.
func loadJournal(st *state.Dir, id string) *Journal {
	data, err := st.Load(journalName(id), journalVersion)
	if err != nil {
		return new(Journal)
	}
	return readJournal(data)
}

// readJournal parses a journal. It leaves out unreadable records.
func readJournal(data []byte) *Journal {
	j := new(Journal)
	for record := range bytes.Lines(bounded(data)) {
		switch record[0] {
		case lineRecord:
			var l report.ExtensionLine
			if json.Unmarshal(record[1:], &l) == nil {
				j.add(l)
			}
		case decisionRecord:
			var d report.ExtensionDecision
			if json.Unmarshal(record[1:], &d) == nil {
				j.Decisions = append(j.Decisions, d)
			}
		case countRecord:
			j.Counters = sum(j.Counters, countersOf(record))
		}
	}
	return j
}

// countersOf returns the counters of a record, zero ones if it is unreadable.
func countersOf(record []byte) (c report.ExtensionCounters) {
	if json.Unmarshal(record[1:], &c) != nil {
		return report.ExtensionCounters{}
	}
	return c
}

// counted returns data with the sum of its counters and c. It may overwrite data.
func counted(data []byte, c report.ExtensionCounters) []byte {
	kept := data[:0]
	for record := range bytes.Lines(data) {
		if record[0] == countRecord {
			c = sum(c, countersOf(record))
		} else {
			kept = append(kept, record...)
		}
	}
	if c == (report.ExtensionCounters{}) {
		return kept
	}
	return appendRecord(kept, countRecord, c)
}

// bounded returns data without the oldest records beyond the bounds. It may overwrite data.
func bounded(data []byte) []byte {
	lines, size, decisions := 0, 0, 0
	for record := range bytes.Lines(data) {
		switch record[0] {
		case lineRecord:
			lines, size = lines+1, size+len(record)
		case decisionRecord:
			decisions++
		}
	}
	if lines <= maxLines && size <= maxLogBytes && decisions <= maxDecisions {
		return data
	}
	kept := data[:0]
	for record := range bytes.Lines(data) {
		switch {
		case record[0] == lineRecord && (lines > maxLines || size > maxLogBytes):
			lines, size = lines-1, size-len(record)
		case record[0] == decisionRecord && decisions > maxDecisions:
			decisions--
		default:
			kept = append(kept, record...)
		}
	}
	return kept
}

// save appends the journal to the saved one. If two processes save at once, the records of one are lost.
func (j *Journal) save(st *state.Dir, id string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.changed {
		return nil
	}
	data, err := st.Load(journalName(id), journalVersion)
	if err != nil {
		data = nil
	}
	for i := range j.Lines {
		data = appendRecord(data, lineRecord, &j.Lines[i])
	}
	for i := range j.Decisions {
		data = appendRecord(data, decisionRecord, &j.Decisions[i])
	}
	return st.Store(journalName(id), journalVersion, counted(bounded(data), j.Counters))
}

func appendRecord(data []byte, kind byte, record any) []byte {
	text, err := json.Marshal(record) // JSON without line breaks
	if err != nil {
		panic(err) // cannot happen for types of this program
	}
	return append(append(append(data, kind), text...), '\n')
}
