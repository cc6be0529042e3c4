package wasm

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/bentobuild/bento/plugin/wasm/wasmtest"
)

// BenchmarkCall measures a call. The limits of the issue are 5 ms with an instance, and 1 ms for a module
// of at most 100 KiB.
func BenchmarkCall(b *testing.B) {
	for name, o := range map[string]Options{
		"handwritten": {Bytes: wasmtest.Answering(wasmtest.Good).Bytes()},
		"go":          {},
	} {
		b.Run(name, func(b *testing.B) {
			tool := open(b, o)
			must(b, tool, say("echo x"))
			for b.Loop() {
				must(b, tool, say("echo x"))
			}
		})
	}
}

// BenchmarkFirstCall measures the first call of a module, with a stored compilation and without one.
func BenchmarkFirstCall(b *testing.B) {
	b.Run("stored", func(b *testing.B) {
		dir := filepath.Join(b.TempDir(), "compiled")
		once := func() {
			e := NewEngine(EngineOptions{Dir: dir})
			must(b, openWith(b, e, Options{}), say("echo x"))
			e.Close()
		}
		once()
		for b.Loop() {
			once()
		}
	})
	b.Run("compiled", func(b *testing.B) {
		for b.Loop() {
			e := NewEngine(EngineOptions{})
			must(b, openWith(b, e, Options{}), say("echo x"))
			e.Close()
		}
	})
}

// BenchmarkLoop measures a loop of 100 million turns: without a check, with bento's check, and with that
// of wazero.
func BenchmarkLoop(b *testing.B) {
	source := loop(100_000_000)
	m, err := parse(source)
	if err != nil {
		b.Fatal(err)
	}
	h, err := m.harden()
	if err != nil {
		b.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		code []byte
		done bool
	}{{"plain", source, false}, {"hardened", h.code, false}, {"closeOnContextDone", source, true}} {
		b.Run(tt.name, func(b *testing.B) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCloseOnContextDone(tt.done))
			defer r.Close(ctx)
			mod, err := r.Instantiate(ctx, tt.code)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := mod.ExportedFunction(execute).Call(ctx, 0, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// loop returns a tool that counts down from n.
func loop(n int32) []byte {
	m := wasmtest.Answering(wasmtest.Good)
	m.Rename(execute, "")
	m.Func(execute, "i32,i32->i64", wasmtest.I32(n), []byte{0x21, 2}, // local.set
		[]byte{0x03, 0x40}, wasmtest.Local(2), wasmtest.I32(-1), wasmtest.Op(wasmtest.I32Add), []byte{0x22, 2, 0x0d, 0, wasmtest.End}, // tee, br_if
		wasmtest.Packed(1024, uint32(len(wasmtest.Good))))
	return m.Bytes()
}
