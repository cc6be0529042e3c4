package reapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bentobuild/bento/cache/remote"
)

// The methods that execution needs.
const (
	executeAction   = execution + "Execution/Execute"
	waitExecution   = execution + "Execution/WaitExecution"
	cancelOperation = "google.longrunning.Operations/CancelOperation"
)

// Stage is how far the execution of an action has come, as far as the server says it.
type Stage int

// The stages of the API.
const (
	StageUnknown Stage = iota
	CheckingCache
	Queued
	Executing
	Completed
)

const (
	// cancelTime is how long the end of an action waits for the server to take note of it.
	cancelTime = 200 * time.Millisecond
	// maxLost is how often in a row a stream of an execution may break without a message.
	maxLost = 3
	// maxRestarts is how often a server may forget an execution.
	maxRestarts = 1
)

// Executed is the end of the execution of an action.
type Executed struct {
	// Code is OK if the action was executed, whatever its exit code. Text is what the server says of it.
	Code   Code
	Text   string
	Cached bool          // the result is that of an earlier execution
	Result *ActionResult // nil if the server sends none
}

// Execute executes an action, all of whose blobs the server has, and waits for its end, however long it takes. Unless fresh is
// set, the result may be that of an earlier execution. stage is called with what the server says meanwhile. If the stream
// breaks, Execute asks for the same execution again. If ctx ends, it cancels the execution, and its error is the cause.
func (c *Client) Execute(ctx context.Context, action remote.Digest, fresh bool, stage func(Stage)) (*Executed, error) {
	if _, err := c.capabilities(ctx); err != nil {
		return nil, err
	}
	under, drop := context.WithCancel(context.WithoutCancel(ctx))
	defer drop()
	o := &operation{client: c, action: action, fresh: fresh, stage: stage, named: make(chan struct{})}
	done := make(chan struct{})
	var end *Executed
	var err error
	var following sync.WaitGroup
	defer following.Wait()
	following.Go(func() {
		defer close(done)
		end, err = o.follow(under)
	})
	select {
	case <-done:
		return end, err
	case <-ctx.Done():
	}
	o.cancel(under, done)
	drop()
	return nil, context.Cause(ctx)
}

// operation is the execution of one action by the server.
type operation struct {
	client *Client
	action remote.Digest
	fresh  bool
	stage  func(Stage)

	named chan struct{} // closed when the server has named the operation
	mu    sync.Mutex
	name  string
	heard bool // a message has come since the last break
	end   *Executed
}

// follow executes the action, and follows it through breaks of the stream.
func (o *operation) follow(ctx context.Context) (*Executed, error) {
	for lost, restarts := 0, 0; ; {
		err := o.stream(ctx)
		switch f, failed := errors.AsType[*Failure](err); {
		case o.end != nil:
			return o.end, nil
		case ctx.Err() != nil:
			return nil, err
		case o.known() != "" && failed && (f.Code == NotFound || f.Code == Unimplemented) && restarts < maxRestarts:
			restarts++
			o.forget()
			continue
		case failed && f.Code != Unavailable || !failed && !isCut(err) && !errors.Is(err, remote.ErrSilent):
			return nil, err
		}
		if o.heard {
			lost = 0
		}
		if lost++; lost >= maxLost {
			return nil, err
		}
		select {
		case <-time.After(time.Duration(lost*lost) * 50 * time.Millisecond):
		case <-ctx.Done():
			return nil, err
		}
		if _, dead := o.client.askCapabilities(ctx); dead == nil && errors.Is(err, remote.ErrSilent) {
			lost = 0 // it is alive, and has nothing to say
		}
	}
}

func (o *operation) known() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.name
}

func (o *operation) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.name, o.named = "", make(chan struct{})
}

// stream reads what the server says of the execution, from its start or of the one that it has named, until its end.
func (o *operation) stream(ctx context.Context) error {
	c, name := o.client, o.known()
	method, frame := waitExecution, appendBytes(newFrame(len(name)+8), 1, name)
	if name == "" {
		method, frame = executeAction, o.request()
	}
	seal(frame)
	o.heard = false
	var a *answer
	err := c.authorized(func() (err error) {
		a, err = c.open(ctx, method, func() io.Reader { return bytes.NewReader(frame) })
		return err
	})
	if err != nil {
		return err
	}
	defer a.close()
	for o.end == nil {
		message, err := a.next()
		switch {
		case err == io.EOF:
			return cut{c.fault(method, errors.New("the stream ends before the execution does"))}
		case err != nil:
			return err
		}
		o.heard = true
		if err := o.take(message); err != nil {
			return c.fault(method, err)
		}
	}
	return nil
}

func (o *operation) request() []byte {
	c := o.client
	b := appendBytes(newFrame(128+len(c.instance)), 1, c.instance)
	if o.fresh {
		b = appendNumber(b, 3, 1)
	}
	b = appendDigest(b, 6, o.action)
	return appendNumber(b, 9, c.function.number())
}

// take reads a google.longrunning.Operation: name = 1, metadata = 2, done = 3, error = 4, response = 5.
func (o *operation) take(message []byte) error {
	var name string
	var done bool
	var failure, response, metadata []byte
	err := fields(message, func(f field) error {
		switch {
		case f.is(1, protowire.BytesType):
			name = string(f.data)
		case f.is(2, protowire.BytesType):
			metadata = f.data
		case f.is(3, protowire.VarintType):
			done = f.n != 0
		case f.is(4, protowire.BytesType):
			failure = f.data
		case f.is(5, protowire.BytesType):
			response = f.data
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("an operation: %w", err)
	}
	o.call(name)
	if err := o.takeMetadata(metadata); err != nil || !done {
		return err
	}
	switch {
	case failure != nil:
		s, err := decodeStatus(failure)
		o.end = &Executed{Code: s.code, Text: s.text}
		if s.code == OK {
			return errors.New("an operation with an error that is none")
		}
		return err
	case response == nil:
		return errors.New("an operation that is done and has no response")
	}
	value, err := anyOf(response, "ExecuteResponse")
	if err == nil {
		o.end, err = decodeExecuted(value)
	}
	return err
}

func (o *operation) call(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.name == "" && name != "" {
		o.name = name
		close(o.named)
	}
}

// takeMetadata reads an ExecuteOperationMetadata: stage = 1, action_digest = 2.
func (o *operation) takeMetadata(message []byte) error {
	value, err := anyOf(message, "ExecuteOperationMetadata")
	if err != nil || value == nil {
		return nil // servers may send others
	}
	return fields(value, func(f field) error {
		switch {
		case f.is(1, protowire.VarintType):
			o.stage(Stage(f.n))
		case f.is(2, protowire.BytesType):
			if d, err := decodeDigest(f.data); err == nil && d != o.action {
				return fmt.Errorf("the server executes the action %s, expected %s", text(d), text(o.action))
			}
		}
		return nil
	})
}

// cancel tells the server that the action is not needed any more. It waits a moment for the name of an operation that has
// just begun: without a word, the server would go on.
func (o *operation) cancel(ctx context.Context, done <-chan struct{}) {
	o.mu.Lock()
	named := o.named
	o.mu.Unlock()
	ctx, stop := context.WithTimeout(ctx, cancelTime)
	defer stop()
	select {
	case <-named:
	case <-done:
		return
	case <-ctx.Done():
		return
	}
	name := o.known()
	_, _ = o.client.call(ctx, cancelOperation, appendBytes(newFrame(len(name)+8), 1, name)) // a server without it goes on
}

// anyOf returns the value of a google.protobuf.Any with a message of the API, nil for an empty one.
func anyOf(message []byte, kind string) (value []byte, err error) {
	if message == nil {
		return nil, nil
	}
	url := ""
	value = []byte{}
	err = fields(message, func(f field) error {
		switch {
		case f.is(1, protowire.BytesType):
			url = string(f.data)
		case f.is(2, protowire.BytesType):
			value = f.data
		}
		return nil
	})
	if err == nil && !strings.HasSuffix(url, "."+kind) {
		err = fmt.Errorf("a message of the type %.80q, expected %s", url, kind)
	}
	return value, err
}

// decodeExecuted reads an ExecuteResponse: result = 1, cached_result = 2, status = 3, message = 5.
func decodeExecuted(message []byte) (*Executed, error) {
	e := new(Executed)
	said := ""
	err := fields(message, func(f field) (err error) {
		switch {
		case f.is(1, protowire.BytesType):
			e.Result, err = DecodeActionResult(f.data)
		case f.is(2, protowire.VarintType):
			e.Cached = f.n != 0
		case f.is(3, protowire.BytesType):
			var s status
			s, err = decodeStatus(f.data)
			e.Code, e.Text = s.code, s.text
		case f.is(5, protowire.BytesType):
			said = printable(string(f.data))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("the response: %w", err)
	}
	if e.Text == "" {
		e.Text = said
	}
	if e.Code == OK && e.Result == nil {
		return nil, errors.New("a response without a result")
	}
	return e, nil
}
