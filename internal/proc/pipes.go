package proc

import "os"

// Pipes are our ends of a child's stdin and stdout. Both take deadlines where the system supports
// them for pipes. The caller of StartPiped closes them.
type Pipes struct {
	Stdin  *os.File // for writing
	Stdout *os.File // for reading; ends when the other end is closed everywhere
}

// Close closes both ends.
func (p *Pipes) Close() {
	p.Stdin.Close()
	p.Stdout.Close()
}

// StartPiped is Start with pipes in place of the Spec's Stdin and Stdout.
func StartPiped(s Spec) (*Process, *Pipes, error) {
	stdin, write, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer stdin.Close()
	read, stdout, err := os.Pipe()
	if err != nil {
		write.Close()
		return nil, nil, err
	}
	defer stdout.Close()
	ours := &Pipes{Stdin: write, Stdout: read}
	s.Stdin, s.Stdout = stdin, stdout
	p, err := Start(s)
	if err != nil {
		ours.Close()
		return nil, nil, err
	}
	return p, ours, nil
}
