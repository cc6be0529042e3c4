package wasm

import (
	"bytes"
	"context"
	"os"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/bentobuild/bento/plugin/wasm/wasmtest"
)

// FuzzHarden: a hardened module is compiled within bounds, and is valid if and only if the original module
// is.
func FuzzHarden(f *testing.F) {
	for _, b := range seeds(f) {
		f.Add(b)
	}
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithMemoryLimitPages(16).WithDebugInfoEnabled(false))
	f.Cleanup(func() { r.Close(ctx) })
	compile := func(b []byte) error {
		c, err := r.CompileModule(ctx, b)
		if err != nil {
			return err
		}
		return c.Close(ctx)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parse(b)
		if err != nil || m.memories == 0 {
			return
		}
		for _, i := range m.imports {
			if i.kind != kindFunc {
				return
			}
		}
		h, err := m.harden()
		if err != nil {
			return
		}
		before := allocated()
		hardened := compile(h.code)
		if most := 16<<20 + uint64(len(b))*5000; allocated()-before > most {
			t.Fatalf("a module of %d bytes takes %d", len(b), allocated()-before)
		}
		if plain := compile(m.plain()); (plain == nil) != (hardened == nil) {
			t.Fatalf("wazero says %v of the module, and %v of the hardened one", plain, hardened)
		}
	})
}

// plain returns the sections that harden keeps, unchanged.
func (m *module) plain() []byte {
	out := bytes.Clone(magic)
	for _, s := range m.sections {
		if s.id != sectionCustom {
			out = appendSection(out, s.id, s.content)
		}
	}
	return out
}

func seeds(f *testing.F) [][]byte {
	b, err := os.ReadFile(guest(f))
	if err != nil {
		f.Fatal(err)
	}
	full, tables, locals := wasmtest.Answering(wasmtest.Good), wasmtest.Answering(wasmtest.Good), wasmtest.Answering(wasmtest.Good)
	full.Global()
	full.Table(3)
	full.Start(full.Func("", "->", []byte{0xfc, 9, 0}))
	full.Func("", "i64->f64", []byte{0x03, 0x40, 0x41, 0, 0x0e, 1, 0, 0, wasmtest.End, 0xfd, 0x80, 1, 0xd0, 0x70, 0x41, 0, 0x1c, 1, 0x70})
	for range maxTables + 1 {
		tables.Table(1)
	}
	locals.Locals(maxLocals + 1)
	return [][]byte{magic, component, b, full.Bytes(), tables.Bytes(), locals.Bytes(),
		[]byte("\x00asm\x01\x00\x00\x00\x044\x80\x80\x80{" + string(make([]byte, 48)))}
}
