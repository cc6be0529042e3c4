package wasm

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/clone"
)

// Options describe one module and its grants. It gets nothing else.
type Options struct {
	ID string // for failures
	// Path is the file of the module, which is read at the first call and then never again: a
	// run calls one and the same module. Bytes are the module itself and go before Path.
	Path  string
	Bytes []byte
	// Dir is a directory above Path: a module is refused if it is a link, or if a directory below Dir that leads
	// to it is one. "" follows links.
	Dir string
	// SHA256, when set, is the digest of the module in hexadecimal, that it must have.
	SHA256   string
	Manifest *Manifest // nil: a bare module, which declares what it imports

	// Capabilities are the granted capabilities: "host:az_env_get" and the other host functions, in any
	// spelling ("az_env_get", "az::az_env_get"), and "wasi:filesystem/read". az_log, the clock and random
	// numbers are always granted.
	Capabilities  []string
	ReadWorkspace bool              // the same as the capability wasi:filesystem/read
	Hosts         []string          // that az_http_get may ask: "example.com", "example.com:8443"
	Env           map[string]string // that az_env_get may read

	Limits  Limits
	Timeout time.Duration // of a call; 0: 30 s
	// Fuel is accepted because configurations of other hosts have it, and is ignored: wazero counts no
	// instructions. Timeout bounds a call.
	Fuel int64

	atItsPath bool // the workspace is mounted under its absolute path too
}

// Manifest has the declarations in the manifest of a module.
type Manifest struct {
	Capabilities []string
	// HostCalls are the host functions that it calls (allowed_host_calls).
	HostCalls      []string
	MinAPI, MaxAPI int // of the runtime API; 0: 2
}

// Limits bound a module. A zero field means the default; a negative one is an error.
type Limits struct {
	Memory int64 // bytes of linear memory; 64 MiB
	Module int64 // bytes of the file; 50 MiB
	Output int64 // bytes of the answer; 16 MiB
}

// API is the version of the runtime API that this package serves.
const API = 2

// DefaultModule is the limit of a module's file in bytes where Limits has none.
const DefaultModule = 50 << 20

const (
	defaultMemory  = 64 << 20
	defaultOutput  = 16 << 20
	defaultTimeout = 30 * time.Second
	maxMemory      = 4 << 30
)

// Tool is a module as a tool. It is safe for concurrent use.
type Tool struct {
	o      Options
	engine *Engine
	grant  grant
	// mayDial reports whether az_http_get may connect to an address.
	mayDial func(netip.AddrPort) bool

	load    sync.Mutex // held while the module is compiled: the other callers need the same module
	program *program
	refused error
	calls   sync.RWMutex // held for reading by calls, for writing by close
	closed  bool
}

var _ adapters.Tool = (*Tool)(nil)

// Open checks the options. It reads and compiles nothing: the first call does.
func (e *Engine) Open(o Options) (*Tool, error) {
	t := &Tool{o: o, engine: e, mayDial: isPublic}
	if err := t.o.complete(); err != nil {
		return nil, t.failure(adapters.LaunchFailed, "", err.Error(), "see the options of the tool")
	}
	var err error
	if t.grant, err = t.granted(); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, t.failure(adapters.LaunchFailed, "", "bento is closing", "")
	}
	e.tools = append(e.tools, t)
	return t, nil
}

// complete checks the options and sets defaults.
func (o *Options) complete() error {
	l := &o.Limits
	for name, n := range map[string]int64{"memory": l.Memory, "module": l.Module, "output": l.Output, "timeout": int64(o.Timeout), "fuel": o.Fuel} {
		if n < 0 {
			return fmt.Errorf("the limit %s is %d; required is a positive number", name, n)
		}
	}
	if l.Memory > maxMemory || l.Memory > 0 && l.Memory < pageSize {
		return fmt.Errorf("the limit memory is %d bytes; required is one page of %d bytes to 4 GiB", l.Memory, pageSize)
	}
	switch {
	case strings.TrimSpace(o.ID) == "":
		return errors.New("the id of the tool is empty")
	case o.Bytes == nil && filepath.Ext(o.Path) != ".wasm":
		return fmt.Errorf("the path of the module is %q; required is one that ends in .wasm", o.Path)
	}
	l.Memory, l.Module, l.Output = cmp.Or(l.Memory, defaultMemory), cmp.Or(l.Module, DefaultModule), cmp.Or(l.Output, defaultOutput)
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	return nil
}

// failure returns a failure of the tool.
func (t *Tool) failure(code adapters.Code, call, message, hint string) *adapters.Failure {
	return &adapters.Failure{Code: code, Adapter: t.o.ID, Path: t.o.Path, Call: call, Message: message, Hint: hint}
}

// Call calls the module's az_tool_execute in a separate instance.
func (t *Tool) Call(ctx context.Context, c adapters.ToolCall) (adapters.ToolAnswer, error) {
	return t.call(ctx, recorded{ToolCall: c})
}

func (t *Tool) call(ctx context.Context, c recorded) (adapters.ToolAnswer, error) {
	text, err := t.raw(ctx, c)
	if err != nil {
		return adapters.ToolAnswer{}, err
	}
	return t.answer(text)
}

// Raw is Call without a look at the output: it returns the bytes that the module has returned, nil
// for none. The suite of tests judges them.
func (t *Tool) Raw(ctx context.Context, c adapters.ToolCall) ([]byte, error) {
	return t.raw(ctx, recorded{ToolCall: c})
}

func (t *Tool) raw(ctx context.Context, c recorded) ([]byte, error) {
	t.calls.RLock()
	defer t.calls.RUnlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.Function != "" && c.Function != execute {
		return nil, t.failure(adapters.ToolNotExposed, c.Function, "a module has one function and no names of functions",
			fmt.Sprintf("write tool = %q without a function", t.o.ID))
	}
	p, err := t.ready(ctx)
	if err != nil {
		return nil, err
	}
	input, err := request(c.ToolCall)
	if err != nil {
		return nil, t.failure(adapters.MalformedResponse, execute, err.Error(), "see the input of the task")
	}
	return t.run(ctx, p, c, executeWith(input))
}

// Check reads, checks and compiles the module, as the first call does.
func (t *Tool) Check(ctx context.Context) error {
	t.calls.RLock()
	defer t.calls.RUnlock()
	_, err := t.ready(ctx)
	return err
}

// Faults returns every clause that the module breaks before its code runs. The error reports that the
// module cannot be read.
func (t *Tool) Faults() ([]Fault, error) {
	source, err := t.source()
	var behind *clone.LinkError
	var failed *adapters.Failure
	switch {
	case errors.As(err, &behind) && errors.As(err, &failed):
		return []Fault{{"W1.8", failed}}, nil
	case err != nil:
		return nil, err
	}
	_, list := t.inspect(source)
	return list, nil
}

// ready returns the compiled module. A refusal is final; the end of ctx is not.
func (t *Tool) ready(ctx context.Context) (*program, error) {
	t.load.Lock()
	defer t.load.Unlock()
	if t.closed {
		return nil, t.failure(adapters.LaunchFailed, "", "bento is closing", "")
	}
	if t.program != nil || t.refused != nil {
		return t.program, t.refused
	}
	p, err := t.compile(ctx)
	if err := ctx.Err(); err != nil {
		if p != nil {
			p.close()
		}
		return nil, err
	}
	t.program, t.refused = p, err
	return p, err
}

func (t *Tool) compile(ctx context.Context) (*program, error) {
	source, err := t.source()
	if err != nil {
		return nil, err
	}
	m, faults := t.inspect(source)
	if len(faults) > 0 {
		return nil, faults[0].Failure
	}
	p, err := t.engine.compile(ctx, m, source, uint32(t.o.Limits.Memory/pageSize))
	if err != nil {
		return nil, t.failure(adapters.LaunchFailed, "", fmt.Sprintf("failed to compile module at %s: %s", t.place(), tidy(err)),
			"build the module for wasm32-wasip1 again; WebAssembly 2.0 without threads and exceptions is served")
	}
	return p, nil
}

func (t *Tool) place() string { return cmp.Or(t.o.Path, "(bytes)") }

// source returns the bytes of the module, with the digest that it must have.
func (t *Tool) source() ([]byte, error) {
	b := t.o.Bytes
	if b == nil {
		var err error
		if b, err = t.read(); err != nil {
			return nil, err
		}
	}
	if t.o.SHA256 == "" {
		return b, nil
	}
	sum := sha256.Sum256(b)
	if found := hex.EncodeToString(sum[:]); !strings.EqualFold(found, t.o.SHA256) {
		return nil, t.failure(adapters.NotTrusted, "", fmt.Sprintf("integrity check failed for %s: required sha256 %s, found %s", t.place(), t.o.SHA256, found),
			"if the module was changed on purpose, write its new digest")
	}
	return b, nil
}

// openFile opens the file of the module. A named pipe does not block.
func (t *Tool) openFile() (*os.File, error) {
	if t.o.Dir == "" {
		return os.OpenFile(t.o.Path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	}
	return clone.At(t.o.Dir).OpenDirect(t.o.Path)
}

// read reads the file of the module, one byte further than the limit.
func (t *Tool) read() ([]byte, error) {
	f, err := t.openFile()
	var behind *clone.LinkError
	switch {
	case errors.As(err, &behind):
		failed := t.failure(adapters.LaunchFailed, "", fmt.Sprintf("the module lies behind a link: %v", behind), "put the module itself there, or a copy of it")
		failed.Cause = behind
		return nil, failed
	case errors.Is(err, os.ErrNotExist):
		return nil, t.failure(adapters.LaunchFailed, "", "plugin module does not exist: "+t.o.Path, "build the module, or correct its path")
	case err != nil:
		return nil, t.failure(adapters.LaunchFailed, "", err.Error(), "")
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, t.failure(adapters.LaunchFailed, "", err.Error(), "")
	}
	if !info.Mode().IsRegular() {
		return nil, t.failure(adapters.LaunchFailed, "", fmt.Sprintf("%s is no regular file", t.o.Path), "name the .wasm file")
	}
	var b bytes.Buffer
	b.Grow(int(min(info.Size(), t.o.Limits.Module) + bytes.MinRead))
	if _, err := b.ReadFrom(io.LimitReader(f, t.o.Limits.Module+1)); err != nil {
		return nil, t.failure(adapters.LaunchFailed, "", err.Error(), "")
	}
	if n := int64(b.Len()); n > t.o.Limits.Module {
		return nil, t.tooLarge(max(n, info.Size()))
	}
	return b.Bytes(), nil
}

func (t *Tool) tooLarge(n int64) *adapters.Failure {
	return t.failure(adapters.LaunchFailed, "", fmt.Sprintf("plugin module exceeds size policy (%d > %d bytes)", n, t.o.Limits.Module), "raise limits.module of the tool, or strip the module")
}

// request returns the message of a call. The input is text: of a JSON string its content, of any other
// value its JSON.
func request(c adapters.ToolCall) ([]byte, error) {
	input := "{}"
	if raw := bytes.TrimSpace(c.Input); len(raw) > 0 {
		var compact bytes.Buffer
		if err := json.Compact(&compact, raw); err != nil {
			return nil, fmt.Errorf("the input is not JSON: %w", err)
		}
		input = compact.String()
		if input[0] == '"' {
			if err := json.Unmarshal([]byte(input), &input); err != nil {
				return nil, fmt.Errorf("the input is not JSON: %w", err)
			}
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(struct {
		Input string `json:"input"`
		Root  string `json:"workspace_root"`
	}{input, c.Root})
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// close waits for the calls and drops the compiled module.
func (t *Tool) close() {
	t.calls.Lock()
	defer t.calls.Unlock()
	t.load.Lock()
	defer t.load.Unlock()
	if t.program != nil {
		t.program.close()
	}
	t.program, t.closed = nil, true
}
