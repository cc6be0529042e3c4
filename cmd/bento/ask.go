package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
)

// maxAnswer bounds an answer at the terminal, in bytes.
const maxAnswer = 1 << 10

// asks reports whether the user is at a terminal and can be asked.
func (s *session) asks() bool {
	in := s.files[0]
	return in != nil && s.columns != nil && term.IsTerminal(int(in.Fd()))
}

// confirm asks the user at the terminal a question, and reports whether the answer is yes.
// Every other answer is no, and so is the end of the input. Without a terminal it returns an error
// that names command.
func (s *session) confirm(ctx context.Context, command, question string) (bool, error) {
	if !s.asks() {
		return false, usageError(command+" asks for confirmation, which requires a terminal; nothing was removed", "add --yes to remove without a question")
	}
	return s.ask(ctx, question)
}

// confirmTasks returns the function that asks about each task with a question, nil without a terminal.
func (s *session) confirmTasks() func(context.Context, []*plan.Task) error {
	if !s.asks() {
		return nil
	}
	return func(ctx context.Context, tasks []*plan.Task) error {
		for _, t := range tasks {
			yes, err := s.ask(ctx, report.PrintableLine(t.ID()+": "+t.Question()))
			if err == nil && !yes {
				err = notFound(run.ReasonNotConfirmed, t.ID()+" was not confirmed, so nothing runs", "answer y, or add --yes")
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// ask asks a question at the terminal, and reports whether the answer is yes.
func (s *session) ask(ctx context.Context, question string) (bool, error) {
	in := s.files[0]
	fmt.Fprintf(s.err, "bento: %s [y/N] ", question)
	answer, err := readAnswer(ctx, in)
	if !strings.HasSuffix(answer, "\n") {
		fmt.Fprintln(s.err) // the cursor is still on the line of the question
	}
	if err != nil {
		return false, err
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}

// readAnswer reads one line of a terminal. It returns the error of ctx once ctx is done: a plain
// read would wait for the line.
func readAnswer(ctx context.Context, in *os.File) (string, error) {
	wake, done, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer wake.Close()
	stop := context.AfterFunc(ctx, func() { done.Close() })
	defer func() {
		if stop() {
			done.Close()
		}
	}()
	for {
		ready := []unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}, {Fd: int32(wake.Fd()), Events: unix.POLLIN}}
		if _, err := unix.Poll(ready, -1); err == unix.EINTR {
			continue
		} else if err != nil {
			return "", err
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if ready[0].Revents != 0 {
			break
		}
	}
	line := make([]byte, maxAnswer)
	n, _ := in.Read(line) // a terminal returns one line, or nothing at the end of the input
	return string(line[:n]), nil
}
