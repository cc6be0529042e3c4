package wasm

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// call is one call of a module.
type call struct {
	t   *Tool
	c   recorded
	log *lines
	mod api.Module
	at  string // the step: "instantiate", az_alloc, az_tool_execute
}

// recorded is a call, with the recorder of the files that the module looks at.
type recorded struct {
	adapters.ToolCall
	observed *observations // nil: nothing does
}

// Instantiate is the Call of a failure before the first call of an instance.
const Instantiate = "instantiate"

// callKey is the key of the call in the context of its host functions, which belong to the runtime
// and serve all calls.
type callKey struct{}

// exchange is the work of a call on a started instance. It returns a copy of the answer, nil if that is
// empty.
type exchange func(context.Context, *call) ([]byte, error)

// run makes an instance and runs the exchange on it, in the order of section 2 of the contract.
func (t *Tool) run(ctx context.Context, p *program, c recorded, do exchange) ([]byte, error) {
	k := &call{t: t, c: c, log: newLines(c.Log)}
	defer k.log.end()
	outer := ctx
	ctx, cancel := context.WithTimeout(ctx, t.o.Timeout)
	defer cancel()
	ctx = context.WithValue(ctx, callKey{}, k)
	text, err := k.steps(ctx, p, do)
	if err == nil {
		return text, nil
	}
	if outer.Err() != nil {
		return nil, outer.Err()
	}
	var failed *adapters.Failure
	if ctx.Err() != nil {
		failed = t.failure(adapters.Timeout, execute, fmt.Sprintf("plugin execution exceeded time limit (%d ms)", t.o.Timeout.Milliseconds()),
			"raise timeout of the tool if its work takes longer")
	} else if !errors.As(err, &failed) {
		failed = t.failure(adapters.Crashed, k.at, tidy(err), "see what the module wrote")
	}
	if ctx.Err() != nil {
		failed.Call = k.at
	}
	failed.Stderr = k.log.tail()
	return nil, failed
}

func (k *call) steps(ctx context.Context, p *program, do exchange) ([]byte, error) {
	files, mounts, err := k.mounts()
	defer files.close()
	if err != nil {
		return nil, k.t.failure(adapters.LaunchFailed, execute, err.Error(), "")
	}
	k.at = Instantiate
	memory := &memories{pool: &p.memories}
	defer memory.release()
	k.mod, err = p.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, memory), p.compiled, k.config(ctx, mounts))
	if err != nil {
		return nil, fmt.Errorf("failed to instantiate v2 plugin module: %w", err)
	}
	defer k.mod.Close(context.WithoutCancel(ctx))
	defer p.form.arm(ctx, k.mod)()
	for _, start := range []string{p.form.start, "_initialize"} {
		if start == "" || start == "_initialize" && !p.init {
			continue
		}
		if _, err := k.mod.ExportedFunction(start).Call(ctx); err != nil {
			return nil, fmt.Errorf("failed to instantiate v2 plugin module: %w", err)
		}
	}
	return do(ctx, k)
}

// executeWith is the exchange of a call.
func executeWith(input []byte) exchange {
	return func(ctx context.Context, k *call) ([]byte, error) {
		at, err := k.put(ctx, input)
		if err != nil {
			return nil, err
		}
		return k.text(ctx, execute, uint64(at), uint64(len(input)))
	}
}

// text calls an export that returns a packed text.
func (k *call) text(ctx context.Context, export string, params ...uint64) ([]byte, error) {
	k.at = export
	packed, err := k.mod.ExportedFunction(export).Call(ctx, params...)
	if err != nil {
		return nil, fmt.Errorf("%s call failed: %w", export, err)
	}
	return k.output(packed[0])
}

// arm makes the end of ctx stop the module. The caller calls the function that it returns at the
// end of the call.
func (h *hardened) arm(ctx context.Context, mod api.Module) (disarm func()) {
	stop := mod.ExportedGlobal(h.stop).(api.MutableGlobal)
	ended := make(chan struct{})
	remove := context.AfterFunc(ctx, func() {
		defer close(ended)
		stop.Set(1)
	})
	return func() {
		if !remove() {
			<-ended
		}
	}
}

// put copies the input into the memory of the module. Pointers are unsigned.
func (k *call) put(ctx context.Context, input []byte) (uint32, error) {
	k.at = alloc
	res, err := k.mod.ExportedFunction(alloc).Call(ctx, uint64(len(input)))
	if err != nil {
		return 0, fmt.Errorf("%s call failed: %w", alloc, err)
	}
	at, mem := uint32(res[0]), k.mod.Memory()
	if !mem.Write(at, input) {
		return 0, k.t.failure(adapters.MalformedResponse, alloc,
			fmt.Sprintf("plugin memory too small for the input: az_alloc returned %d, memory is %d bytes, need %d", at, mem.Size(), uint64(at)+uint64(len(input))),
			"az_alloc has to return the address of as many free bytes as it is asked for")
	}
	return at, nil
}

// output copies the bytes that a packed value refers to. The memory may have grown since.
func (k *call) output(packed uint64) ([]byte, error) {
	at, n := uint32(packed), uint32(packed>>32)
	if n == 0 {
		return nil, nil
	}
	if mem := k.mod.Memory(); uint64(at)+uint64(n) > uint64(mem.Size()) {
		return nil, k.t.failure(adapters.MalformedResponse, k.at,
			fmt.Sprintf("plugin output ptr/len (%d, %d) exceeds memory bounds (%d)", at, n, mem.Size()), "")
	}
	if int64(n) > k.t.o.Limits.Output {
		return nil, k.t.failure(adapters.MalformedResponse, k.at,
			fmt.Sprintf("plugin output has %d bytes; at most %d are allowed", n, k.t.o.Limits.Output), "raise limits.output of the tool")
	}
	text, _ := k.read(at, n)
	return text, nil
}

// read returns a copy of guest memory.
func (k *call) read(at, n uint32) ([]byte, bool) {
	b, ok := k.mod.Memory().Read(at, n)
	return append([]byte(nil), b...), ok
}

func (k *call) config(ctx context.Context, mounts wazero.FSConfig) wazero.ModuleConfig {
	return wazero.NewModuleConfig().WithName("").WithStartFunctions().
		WithStdout(k.log).WithStderr(k.log).WithFSConfig(mounts).
		WithSysWalltime().WithSysNanotime().WithRandSource(rand.Reader).
		WithNanosleep(func(ns int64) { pause(ctx, time.Duration(ns)) })
}

// pause sleeps for d, until ctx is done at the latest. Then the module is stopped by its next check.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// tidy returns the text of an error of wazero without its stack, as one plain line.
func tidy(err error) string {
	var exit *sys.ExitError
	if errors.As(err, &exit) {
		text, _, _ := strings.Cut(err.Error(), ":")
		return fmt.Sprintf("%s: the module called proc_exit(%d)", text, exit.ExitCode())
	}
	text, _, _ := strings.Cut(err.Error(), "\nwasm stack trace:")
	text, _, _ = strings.Cut(text, "\nGo runtime stack trace:")
	return wire.Plain(strings.ReplaceAll(strings.TrimSuffix(text, " (recovered by wazero)"), "\n", ": "))
}
