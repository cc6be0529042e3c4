package proc

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// A foreign process may keep the pipe open after all known descendants have ended. The pipe is read
// for drainTime, and then until no output comes for lastLook.
const (
	drainTime = 2 * time.Second
	lastLook  = 10 * time.Millisecond
	pipeSize  = 1 << 20 // more than the capacity of a pipe
)

// The first buffer for output has firstPiece bytes; once one is full the buffer has fullPiece: most
// children print little.
const (
	firstPiece = 1 << 10
	fullPiece  = 32 << 10
)

// maxOutputs is the number of outputs: stdout and stderr.
const maxOutputs = 2

// stdio is the three streams of a child, and the copying between pipes and the Spec's readers and
// writers.
type stdio struct {
	child   [3]pipeEnd
	theirs  *pipeEnd // child's end, closed by started
	stdin   *os.File // our end; nil when there is no pipe
	outputs []output
	copies  sync.WaitGroup
}

// output is our end of a pipe that a child prints to.
type output struct {
	end   pipeEnd // our end; nothing was read yet
	child pipeEnd // the child's end; open until a goroutine waits for the end of the pipe
	to    io.Writer
	file  *os.File // our end once copying has begun
	let   bool     // child is closed
	over  bool     // both ends are closed and nothing was copied
}

// idle reports whether nothing was printed yet and the pipe is open.
func (o *output) idle() bool { return o.file == nil && !o.over }

// letEnd closes our copy of the child's end, so that the pipe ends with its last other user.
func (o *output) letEnd() {
	if !o.let {
		o.let = true
		o.child.Close()
	}
}

func (o *output) close() {
	o.letEnd()
	if o.idle() {
		o.over = true
		o.end.Close()
	}
}

func openStdio(s *Spec) (*stdio, error) {
	io := &stdio{}
	err := io.open(s)
	if err != nil {
		io.closeAll()
		return nil, err
	}
	return io, nil
}

func (d *stdio) open(s *Spec) error {
	if err := d.openStdin(s.Stdin); err != nil {
		return err
	}
	if err := d.openOutput(1, s.Stdout); err != nil {
		return err
	}
	if same(s.Stdout, s.Stderr) {
		d.child[2] = d.child[1]
		return nil
	}
	return d.openOutput(2, s.Stderr)
}

func (d *stdio) openStdin(r io.Reader) error {
	if f, ok := r.(*os.File); ok {
		d.child[0] = pipeOf(f)
		return nil
	}
	if r == nil {
		return d.openNull(0, os.O_RDONLY)
	}
	theirs, end, err := newPipe()
	if err != nil {
		return err
	}
	d.child[0], d.theirs = theirs, &theirs
	ours := end.File()
	d.stdin = ours
	d.copies.Go(func() {
		_, _ = io.Copy(ours, r) // a child need not read to the end
		ours.Close()
	})
	return nil
}

func (d *stdio) openOutput(fd int, w io.Writer) error {
	if f, ok := w.(*os.File); ok {
		d.child[fd] = pipeOf(f)
		return nil
	}
	if w == nil {
		return d.openNull(fd, os.O_WRONLY)
	}
	ours, theirs, err := newPipe()
	if err != nil {
		return err
	}
	d.child[fd] = theirs
	d.outputs = append(d.outputs, output{end: ours, child: theirs, to: w})
	return nil
}

// copyAll copies the output of the pipes in goroutines.
func (d *stdio) copyAll() {
	for i := range d.outputs {
		d.copy(&d.outputs[i])
	}
}

func (d *stdio) copy(o *output) {
	if !o.idle() {
		return
	}
	o.letEnd()
	from := o.end.File()
	o.file = from
	d.copies.Go(func() {
		copyOutput(o.to, from)
		from.Close()
	})
}

// nulls are the null device for reading and for writing. It has no state, so one serves all
// children.
var nulls [2]struct {
	sync.Mutex
	file *os.File
}

func (d *stdio) openNull(fd, flag int) (err error) {
	n := &nulls[flag]
	n.Lock()
	defer n.Unlock()
	if n.file == nil {
		if n.file, err = os.OpenFile(os.DevNull, flag, 0); err != nil {
			n.file = nil
			return err
		}
	}
	d.child[fd] = pipeOf(n.file)
	return nil
}

// started closes the end that the child reads from.
func (d *stdio) started() {
	if d.theirs != nil {
		d.theirs.Close()
		d.theirs = nil
	}
}

// letEnd calls letEnd of all outputs.
func (d *stdio) letEnd() {
	for i := range d.outputs {
		d.outputs[i].letEnd()
	}
}

// closeAll closes the pipes of a child that did not start.
func (d *stdio) closeAll() {
	d.started()
	if d.stdin != nil {
		d.stdin.Close()
	}
	for i := range d.outputs {
		d.outputs[i].close()
	}
	d.copies.Wait()
}

// finish waits for the copying after all known processes have ended.
func (d *stdio) finish() {
	if d.stdin != nil {
		d.stdin.Close()
	}
	d.copyAll()
	for i := range d.outputs {
		if f := d.outputs[i].file; f != nil {
			_ = f.SetReadDeadline(time.Now().Add(drainTime))
		}
	}
	d.copies.Wait()
}

// copyOutput copies until the end of the pipe, or until its deadline and then the rest of its
// content: the output of a slow reader is not lost.
func copyOutput(w io.Writer, r *os.File) {
	buf := make([]byte, firstPiece)
	late, left := false, pipeSize
	for left > 0 {
		n, err := r.Read(buf)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			// Read does not look at a pipe whose deadline is over.
			if n = readNow(r, buf); n > 0 || !late {
				late, err = true, nil
			}
		}
		if n > 0 && w != nil {
			if _, werr := w.Write(buf[:n]); werr != nil {
				w = nil // keep reading: a full or closed pipe would block or kill the child
			}
		}
		if err != nil {
			return
		}
		if late {
			left -= n
			_ = r.SetReadDeadline(time.Now().Add(lastLook))
		}
		if n == firstPiece && len(buf) == n {
			buf = make([]byte, fullPiece)
		}
	}
}

// same reports whether two writers are equal. Writers of incomparable types are not.
func same(a, b io.Writer) (eq bool) {
	defer func() { _ = recover() }()
	return a != nil && a == b
}
