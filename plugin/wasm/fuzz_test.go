package wasm

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/bentobuild/bento/plugin/wasm/wasmtest"
)

// A module that wazero accepts stays valid when it is hardened, unless the host refuses it.
func FuzzHarden(f *testing.F) {
	for _, b := range seeds(f) {
		f.Add(b)
	}
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithMemoryLimitPages(16))
	f.Cleanup(func() { r.Close(ctx) })
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parse(b)
		if err != nil {
			return
		}
		if m.memories == 0 {
			return
		}
		for _, i := range m.imports {
			if i.kind != kindFunc {
				return
			}
		}
		h, hardenErr := m.harden()
		if hardenErr != nil && isOurs(hardenErr) {
			return // wazero takes gigabytes for some of them
		}
		plain, err := r.CompileModule(ctx, b)
		if err != nil {
			return // wazero refuses the hardened one, too, or runs what it has checked
		}
		defer plain.Close(ctx)
		if hardenErr != nil {
			t.Fatalf("wazero accepts a module that harden refuses: %v", hardenErr)
		}
		checked, err := r.CompileModule(ctx, h.code)
		if err != nil {
			t.Fatalf("wazero refuses the hardened module: %v", err)
		}
		checked.Close(ctx)
	})
}

// isOurs reports whether a refusal is a rule of the host, of which WebAssembly knows nothing.
func isOurs(err error) bool {
	var bound hostBound
	return errors.As(err, &bound)
}

func seeds(f *testing.F) [][]byte {
	b, err := os.ReadFile(guest(f))
	if err != nil {
		f.Fatal(err)
	}
	tables, locals := wasmtest.Answering(wasmtest.Good), wasmtest.Answering(wasmtest.Good)
	for range maxTables + 1 {
		tables.Table(1)
	}
	locals.Locals(maxLocals + 1)
	return [][]byte{magic, component, b, tables.Bytes(), locals.Bytes()}
}
