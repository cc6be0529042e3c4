package plugin

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"unsafe"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// exported is the module's adapter: the functions that bento calls have no other way to it.
var exported adapters.Adapter

// held are the texts whose addresses bento has. They are never freed, since the instance ends with the
// call.
var held [][]byte

// Export makes a the adapter of a WebAssembly module, bento-adapter-<id>.wasm. It replaces Main in a
// program that is built with GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared, whose main function
// does not run. Its result has no use:
//
//	var _ = plugin.Export(zig{})
//
// Each request is answered by a new instance, so a keeps nothing from one call to the next. It reads
// the workspace, starts no process and has no network.
func Export(a adapters.Adapter) struct{} {
	exported = a
	return struct{}{}
}

//go:wasmexport az_alloc
func azAlloc(n int32) unsafe.Pointer {
	b := make([]byte, max(n, 1))
	held = append(held, b)
	return unsafe.Pointer(&b[0])
}

//go:wasmexport az_tool_execute
func azToolExecute(at unsafe.Pointer, n int32) int64 {
	var in struct {
		Input string `json:"input"`
	}
	var out struct {
		Output string  `json:"output"`
		Error  *string `json:"error"`
	}
	err := json.Unmarshal(unsafe.Slice((*byte)(at), n), &in)
	if err == nil {
		out.Output, err = answer([]byte(in.Input))
	}
	if err != nil {
		text := err.Error()
		out.Output, out.Error = "", &text
	}
	b, err := json.Marshal(out)
	if err != nil {
		panic(err) // it has texts only
	}
	held = append(held, b)
	return int64(uintptr(unsafe.Pointer(&b[0]))) | int64(len(b))<<32
}

// answer serves one request, and returns the messages that answer it, a line each.
func answer(request []byte) (string, error) {
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	var serving sync.WaitGroup
	defer serving.Wait()
	serving.Go(func() { _ = Serve(context.Background(), exported, &Options{In: in, Out: out}) }) // the loop below notices its end
	conn := wire.NewConn(stdout, stdin, wire.Limits{})
	defer conn.Close()
	if err := conn.Send(request); err != nil {
		return "", err
	}
	var lines []byte
	for {
		body, err := conn.Recv()
		if err != nil {
			return "", err
		}
		lines = append(append(lines, body...), '\n')
		if m, err := wire.ParseMessage(body, maxDepth); err == nil && m.Kind == wire.Response {
			return string(lines), nil
		}
	}
}
