// Package mcp serves tools and resources to coding agents by the Model Context Protocol (MCP), over a pair of streams.
// It checks the arguments of calls, runs one call at a time, and bounds every answer. What a tool does, its caller
// decides.
//
// It has no library of the protocol: those initialize tables at the start of the program, which would cost every
// command of bento time. The tests use the client of the official one.
package mcp

import (
	"bytes"
	"context"
	"fmt"
)

// Server is what a client can use.
type Server struct {
	Version      string // of bento
	Instructions string // for the model
	Tools        []Tool
	Resources    []Resource
}

// Tool is one tool. Call is never called twice at the same time. Its context ends if the client cancels the call or
// closes the stream.
type Tool struct {
	Name, About string
	Args        []Arg
	Changes     bool  // it runs tasks or changes files
	Refusal     error // if not nil, the tool is not listed, and each call returns the error
	// Narrow is the sentence that says how to get less output.
	Narrow string
	Call   func(ctx context.Context, args Args, progress func(message string)) Answer
}

// Answer is the result of a call.
type Answer struct {
	Texts  []*Text
	Failed bool
}

// Resource is a text that a client can read.
type Resource struct {
	URI, Name, Title, MIME string
	Read                   func() (string, error)
}

// MaxText is the maximal length of a text of an answer, in bytes.
const MaxText = 64 << 10

// Text is a writer that keeps MaxText bytes: the first ones, or the last ones with Last. Its zero value is ready
// to use.
type Text struct {
	Last bool

	kept []byte
	size int64
}

// Write always succeeds.
func (t *Text) Write(p []byte) (int, error) {
	t.size += int64(len(p))
	if !t.Last {
		t.kept = append(t.kept, p[:min(len(p), MaxText-len(t.kept))]...)
		return len(p), nil
	}
	t.kept = append(t.kept, p[max(0, len(p)-MaxText):]...)
	if len(t.kept) > 2*MaxText { // rarely: each time it copies
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-MaxText:]...)
	}
	return len(p), nil
}

// String returns the kept text. If some was left out, it has whole lines only, unless a line is longer than
// MaxText.
func (t *Text) String() string {
	if t.size <= MaxText {
		return string(t.kept)
	}
	if t.Last {
		last := t.kept[len(t.kept)-MaxText:]
		return string(last[bytes.IndexByte(last, '\n')+1:])
	}
	if end := bytes.LastIndexByte(t.kept, '\n'); end >= 0 {
		return string(t.kept[:end+1])
	}
	return string(t.kept)
}

// cut returns the sentence that says what was left out, "" if nothing was.
func (t *Text) cut(narrow string) string {
	if t.size <= MaxText {
		return ""
	}
	part := "first"
	if t.Last {
		part = "last"
	}
	return fmt.Sprintf("This is not all: only the %s %d bytes of %d are shown. %s", part, MaxText, t.size, narrow)
}
