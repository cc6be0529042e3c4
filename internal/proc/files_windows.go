package proc

import "os"

// pipeEnd is an end of a pipe, or another open file.
type pipeEnd struct{ f *os.File }

func endOf(f *os.File) pipeEnd { return pipeEnd{f} }

func (e pipeEnd) file() *os.File { return e.f }
func (e pipeEnd) close()         { e.f.Close() }

func pipe() (read, write pipeEnd, err error) {
	r, w, err := os.Pipe()
	return pipeEnd{r}, pipeEnd{w}, err
}
