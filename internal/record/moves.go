package record

import "os"

// Moves watches directories of a workspace for moves, if the system reports them: on Linux. The
// zero value is ready. It is safe for concurrent use.
type Moves struct{ moveSystem }

// movesSpan is the time of one execution.
type movesSpan struct{ spanState }

// Begin starts to watch directories, relative to root and with slashes: all of first, and as many of
// rest as the moveSystem allows. It leaves out directories that cannot be watched.
func (w *Moves) Begin(root string, first, rest []string) *movesSpan {
	return &movesSpan{w.begin(root, first, rest)}
}

// Moved returns one of the directories that was moved since Begin, "" if none was moved or the
// moveSystem does not report moves. A nil span watches nothing.
func (s *movesSpan) Moved() string {
	if s == nil {
		return ""
	}
	return s.moved()
}

// File returns a file that is open until Close, nil if the system reports no moves. The kernel ends
// the watches when the last process closes it, which takes that process some 15 ms. So a process that
// bento does not wait for should have it, too.
func (w *Moves) File() *os.File { return w.hold() }

// Close ends all watching. The caller calls Moved of no span afterwards.
func (w *Moves) Close() { w.close() }
