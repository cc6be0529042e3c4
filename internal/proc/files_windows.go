package proc

import "os"

// pipeEnd is our end of a pipe.
type pipeEnd struct{ f *os.File }

func (e pipeEnd) file() *os.File { return e.f }
func (e pipeEnd) close()         { e.f.Close() }

func outputPipe() (child *os.File, ours pipeEnd, err error) {
	r, w, err := os.Pipe()
	return w, pipeEnd{r}, err
}

func inputPipe() (child, ours *os.File, err error) { return os.Pipe() }

func openFile(name string, flag int) (*os.File, error) { return os.OpenFile(name, flag, 0) }
