package proc

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/bentobuild/bento/internal/proc/pipe"
)

// A foreign process may hold the pipe open after all known descendants are gone.
// It is read on for drainTime, and then until nothing comes for lastLook.
const (
	drainTime = 2 * time.Second
	lastLook  = 10 * time.Millisecond
	pipeSize  = 1 << 20 // more than a pipe can hold
)

// Output is read in pieces of firstPiece until one is full, and then of fullPiece:
// most children say little or nothing.
const (
	firstPiece = 1 << 10
	fullPiece  = 32 << 10
)

// maxOutputs is how many there are: stdout and stderr.
const maxOutputs = 2

// stdio is the three streams of a child: what it is given, and the copying between
// pipes and the Spec's readers and writers.
type stdio struct {
	child   [3]pipe.End
	theirs  *pipe.End // that of child which started closes
	stdin   *os.File  // our end, nil when there is no pipe
	outputs []output
	copies  sync.WaitGroup
}

// output is our end of a pipe that a child prints to.
type output struct {
	end   pipe.End // nobody has read from it
	child pipe.End // the child's end, open as long as its end is of no interest
	to    io.Writer
	file  *os.File // what is copied from, nil as long as it is not
	let   bool     // child is closed
	over  bool     // both are, and nothing was copied
}

// idle tells whether there was nothing to copy, and there may be.
func (o *output) idle() bool { return o.file == nil && !o.over }

// letEnd has the pipe end when all others who have the child's end are gone.
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
		d.child[0] = pipe.Of(f)
		return nil
	}
	if r == nil {
		return d.openNull(0, os.O_RDONLY)
	}
	theirs, end, err := pipe.New()
	if err != nil {
		return err
	}
	d.child[0], d.theirs = theirs, &theirs
	ours := end.File()
	d.stdin = ours
	d.copies.Go(func() {
		_, _ = io.Copy(ours, r) // a child that does not read to the end is no error
		ours.Close()
	})
	return nil
}

func (d *stdio) openOutput(fd int, w io.Writer) error {
	if f, ok := w.(*os.File); ok {
		d.child[fd] = pipe.Of(f)
		return nil
	}
	if w == nil {
		return d.openNull(fd, os.O_WRONLY)
	}
	ours, theirs, err := pipe.New()
	if err != nil {
		return err
	}
	d.child[fd] = theirs
	d.outputs = append(d.outputs, output{end: ours, child: theirs, to: w})
	return nil
}

// copyAll copies what comes out of the pipes, beside whoever calls.
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

// nulls are the null device for reading and for writing. It keeps nothing of who has it
// open, so that one is enough for all children.
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
	d.child[fd] = pipe.Of(n.file)
	return nil
}

// started closes the end that the child reads from, which it now has.
func (d *stdio) started() {
	if d.theirs != nil {
		d.theirs.Close()
		d.theirs = nil
	}
}

// letEnd has all output end with those who print it.
func (d *stdio) letEnd() {
	for i := range d.outputs {
		d.outputs[i].letEnd()
	}
}

// closeAll ends the copying of a child that was not started.
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

// finish waits for the copying when all processes that are known are gone.
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

// copyOutput copies until the end of the pipe, or until its deadline and then what
// is still in it: a slow writer loses nothing.
func copyOutput(w io.Writer, r *os.File) {
	buf := make([]byte, firstPiece)
	late, left := false, pipeSize
	for left > 0 {
		n, err := r.Read(buf)
		if n > 0 && w != nil {
			if _, werr := w.Write(buf[:n]); werr != nil {
				w = nil // keep reading: the child must not block or die of it
			}
		}
		if n == firstPiece && len(buf) == n {
			buf = make([]byte, fullPiece)
		}
		switch {
		case err == nil && !late:
		case err == nil:
			left -= n
			_ = r.SetReadDeadline(time.Now().Add(lastLook))
		case errors.Is(err, os.ErrDeadlineExceeded) && !late:
			late = true
			_ = r.SetReadDeadline(time.Now().Add(lastLook))
		default:
			return
		}
	}
}

// same tells whether two writers are one. Those of a type that cannot be compared
// are not.
func same(a, b io.Writer) (eq bool) {
	defer func() { _ = recover() }()
	return a != nil && a == b
}
