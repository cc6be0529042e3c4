package record

import "os"

// Moves watches directories of a workspace for moves, if the system reports them: on Linux. The
// zero value is ready. It is safe for concurrent use.
type Moves struct{ moveSystem }

// movesSpan is the time in which a task runs.
type movesSpan struct{ spanState }

// Begin begins to watch directories, relative to root and with slashes: those of first, and
// as many of rest as the moveSystem bears. What cannot be watched is left out.
func (w *Moves) Begin(root string, first, rest []string) *movesSpan {
	return &movesSpan{w.begin(root, first, rest)}
}

// Moved returns one of the directories that was moved since Begin, "" when none was, or
// when the moveSystem does not tell.
func (s *movesSpan) Moved() string { return s.moved() }

// File is open until Close, nil if the system reports no moves. The kernel ends the watches once no
// process has it open, and lets the last one wait for that, some 15 ms: a process that bento does
// not wait for should have it too.
func (w *Moves) File() *os.File { return w.hold() }

// Close ends all watching. There must be no Span whose Moved is yet to be called.
func (w *Moves) Close() { w.close() }
