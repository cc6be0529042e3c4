package proc

import (
	"context"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// lingerTime is the time for helpers that end soon after the child, such as the tee of a shell's
	// "exec > >(tee log)".
	lingerTime = 250 * time.Millisecond
	// leftGrace is the longest grace of processes that a child left behind.
	leftGrace = time.Second
	// killTime is the longest wait for processes after SIGKILL: one in an uninterruptible call may
	// never die.
	killTime = 10 * time.Second
)

// Process is a running child. Its methods may be called concurrently.
type Process struct {
	spec  Spec
	io    *stdio
	began time.Time

	leader leader // the child itself

	exited  chan struct{} // closed when the child itself has exited
	ended   time.Time     // time of the exit; set before exited is closed
	status  *status       // set before exited is closed, on systems where only reaping finds it
	watched atomic.Bool   // a goroutine watches the child

	terminal *lentTerminal // nil for none
	linger   time.Duration // the time for helpers that end soon; lingerTime except in tests

	killed   chan struct{} // closed by Kill
	killOnce sync.Once

	mu     sync.Mutex
	reaped bool // the group's number may identify other processes now
}

// Start starts a child. Wait must be called once, also after Kill.
func Start(s Spec) (*Process, error) {
	p, err := StartUnwatched(s)
	if err == nil {
		p.watch()
	}
	return p, err
}

// StartUnwatched is Start for a caller that calls Wait at once: until then nothing reads the output of the
// child or notices its end. It saves the goroutines of most children.
func StartUnwatched(s Spec) (*Process, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	io, err := openStdio(&s)
	if err != nil {
		return nil, err
	}
	p := &Process{
		spec: s, io: io, began: time.Now(), linger: lingerTime,
		exited: make(chan struct{}), killed: make(chan struct{}),
	}
	if s.Terminal != nil {
		p.terminal = rememberTerminal(s.Terminal)
	}
	if err := p.fork(); err != nil {
		p.terminal.TakeBack()
		io.closeAll()
		return nil, err
	}
	io.started()
	p.terminal.Lend(p.leader.pid)
	return p, nil
}

// watch starts goroutines that copy the child's output and wait for its exit.
func (p *Process) watch() {
	if !p.watched.CompareAndSwap(false, true) {
		return
	}
	p.io.copyAll()
	go func() {
		p.status = p.await()
		p.over()
	}()
}

// over records that the child itself has exited.
func (p *Process) over() {
	p.ended = time.Now()
	close(p.exited)
}

// Pid returns the process id of the child, which is also that of its group.
func (p *Process) Pid() int { return p.leader.pid }

// Exited returns a channel that is closed when the child itself has exited. Its descendants may
// still run; Wait ends them.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Terminate sends SIGTERM to the child and its descendants.
func (p *Process) Terminate() { p.signal(syscall.SIGTERM) }

// Kill ends the child and its descendants at once.
func (p *Process) Kill() {
	p.killOnce.Do(func() { close(p.killed) })
	p.signal(syscall.SIGKILL)
}

// Wait waits for the child to exit, ends its remaining descendants, and returns how it ended. It
// ends the child when ctx is done or the Spec's Timeout is over.
func (p *Process) Wait(ctx context.Context) Result {
	var res Result
	switch p.waitExit(ctx) {
	case exited:
		p.endLeft()
	case canceled:
		res.Canceled = true
		res.Killed = p.end(ctx)
	case late:
		res.TimedOut = true
		res.Killed = p.end(ctx)
	}
	p.io.finish()
	p.terminal.TakeBack()
	p.reap(&res)
	return res
}

// cause is the reason why the wait for a child ends.
type cause int

const (
	exited cause = iota
	canceled
	late
)

func (p *Process) waitExit(ctx context.Context) cause {
	c, done := p.waitIdle(ctx)
	if done && c == exited {
		return exited
	}
	p.watch()
	if done {
		return c
	}
	timeout, stop := p.timeout()
	defer stop()
	select {
	case <-p.exited:
		return exited
	case <-ctx.Done():
		return canceled
	case <-timeout:
		return late
	}
}

func (p *Process) timeout() (<-chan time.Time, func() bool) {
	if p.spec.Timeout <= 0 {
		return nil, func() bool { return false }
	}
	timer := time.NewTimer(p.spec.Timeout - time.Since(p.began))
	return timer.C, timer.Stop
}

// end ends a child with SIGTERM, then, after the grace, with SIGKILL, and reports whether that was
// needed. Before SIGTERM it sends SIGINT if Ctrl-C is the cause of the end of ctx.
func (p *Process) end(ctx context.Context) (killed bool) {
	defer p.killInHurry(ctx)()
	if context.Cause(ctx) == ErrInterrupt {
		p.interrupt()
	}
	until := time.Now().Add(p.spec.grace())
	if !p.gone() || len(p.left()) > 0 {
		p.Terminate()
	}
	p.waitExited()
	if p.waitLeft(until, p.killed) {
		return p.isKilled()
	}
	p.killAll()
	return true
}

// waitExited waits for the child to exit, for the grace, or for Kill, and reports whether it has
// exited.
func (p *Process) waitExited() bool {
	select {
	case <-p.exited:
	case <-p.killed:
	case <-time.After(p.spec.grace()):
	}
	return p.gone()
}

func (p *Process) isKilled() bool {
	select {
	case <-p.killed:
		return true
	default:
		return false
	}
}

// endLeft ends the descendants of a child that has exited.
func (p *Process) endLeft() {
	if p.gone() && len(p.left()) == 0 {
		return
	}
	p.io.copyAll() // a descendant prints, and may wait for a reader
	if p.waitLeft(p.ended.Add(p.linger), p.killed) {
		return
	}
	p.Terminate()
	if !p.waitLeft(time.Now().Add(min(leftGrace, p.spec.grace())), p.killed) {
		p.killAll()
	}
}

// killAll sends SIGKILL until no process is left: the children of a process that forks meanwhile
// become ours when it dies.
func (p *Process) killAll() {
	for until := time.Now().Add(killTime); time.Now().Before(until); {
		p.signal(syscall.SIGKILL)
		if p.waitLeft(time.Now().Add(lastLook), nil) {
			return
		}
	}
}

// waitLeft waits until the child and its descendants are gone, until the given time or until cut is
// closed, and reports whether they are gone.
func (p *Process) waitLeft(until time.Time, cut <-chan struct{}) bool {
	for pause := time.Millisecond; ; pause = min(2*pause, lastLook) {
		if p.gone() && len(p.left()) == 0 {
			return true
		}
		rest := time.Until(until)
		if rest <= 0 {
			return false
		}
		select {
		case <-time.After(min(pause, rest)):
		case <-cut:
			return false
		}
	}
}

func (p *Process) gone() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// reap takes the exit status. Until then the kernel keeps the number of the child and its group.
func (p *Process) reap(res *Result) {
	if !p.gone() { // SIGKILL cannot end it
		res.ExitCode, res.Duration = -1, time.Since(p.began)
		return
	}
	p.mu.Lock()
	p.reaped = true
	p.mu.Unlock()
	if p.status == nil {
		p.status = p.forget()
	}
	res.Duration = p.ended.Sub(p.began)
	res.fill(p.status)
}
