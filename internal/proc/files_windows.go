package proc

import "os"

// pipe makes a pipe whose end theirs, 0 for reading or 1 for writing, is for a child.
func pipe(theirs int) (child, ours *os.File, err error) {
	r, w, err := os.Pipe()
	if theirs == 1 {
		r, w = w, r
	}
	return r, w, err
}

func openFile(name string, flag int) (*os.File, error) { return os.OpenFile(name, flag, 0) }
