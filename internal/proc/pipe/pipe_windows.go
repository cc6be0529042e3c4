package pipe

import "os"

// End is an end of a pipe, or another open file.
type End struct{ f *os.File }

// Of gives an open file, which stays its owner's.
func Of(f *os.File) End { return End{f} }

// New makes a pipe.
func New() (read, write End, err error) {
	r, w, err := os.Pipe()
	return End{r}, End{w}, err
}

// Close closes it.
func (e End) Close() { e.f.Close() }

// File gives the end as a file, which is to be closed in its place.
func (e End) File() *os.File { return e.f }
