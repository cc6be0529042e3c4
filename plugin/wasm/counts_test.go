package wasm

import (
	"bytes"
	"context"
	"errors"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
	. "github.com/bentobuild/bento/plugin/wasm/wasmtest"
)

// A module that announces more items than it has is refused before memory is allocated for them. Wazero
// allocates up to 72 bytes for each.
func TestAnnouncedCounts(t *testing.T) {
	many := []byte{0xff, 0xff, 0xff, 0xff, 0x0f} // 2^32-1
	constant := []byte{1, 0, 0x41, 0, End}       // one active segment at 0
	typed := func(n int, item ...byte) section {
		return section{sectionType, slices.Concat(U32(uint32(n)), bytes.Repeat(item, n))}
	}
	code := func(body ...byte) section { // the module has three functions
		return section{sectionCode, slices.Concat([]byte{2}, U32(uint32(len(body))), body, []byte{2, 0, End})}
	}
	items := bytes.Repeat([]byte{0}, 1<<20)
	for name, tt := range map[string]struct {
		section
		message string
	}{
		"types":                {section{sectionType, many}, "section 1: it names 4294967295 items and has 0 bytes left"},
		"parameters":           {section{sectionType, slices.Concat([]byte{1, 0x60}, many)}, "section 1: it names 4294967295 items"},
		"imports":              {section{sectionImport, many}, "section 2: it names 4294967295 items"},
		"a name":               {section{sectionImport, slices.Concat([]byte{1}, many)}, "section 2: it ends in the middle"},
		"functions":            {section{sectionFunction, many}, "section 3: it names 4294967295 items"},
		"tables":               {section{sectionTable, many}, "section 4: it names 4294967295 items"},
		"memories":             {section{sectionMemory, many}, "section 5: it names 4294967295 items"},
		"globals":              {section{sectionGlobal, many}, "section 6: it names 4294967295 items"},
		"exports":              {section{sectionExport, many}, "section 7: it names 4294967295 items"},
		"segments of elements": {section{sectionElement, many}, "section 9: it names 4294967295 items"},
		"elements":             {section{sectionElement, slices.Concat(constant, many)}, "section 9: it names 4294967295 items"},
		"constant elements":    {section{sectionElement, slices.Concat([]byte{1, 5, 0x70}, many)}, "section 9: it names 4294967295 items"},
		"functions with code":  {section{sectionCode, many}, "section 10: it names 4294967295 items"},
		"code":                 {section{sectionCode, slices.Concat([]byte{1}, many)}, "section 10: it ends in the middle"},
		"groups of locals":     {code(many...), "section 10: function 0: it names 4294967295 items"},
		"locals":               {code(slices.Concat([]byte{1}, many, []byte{0x7f, End})...), "section 10: function 0: it has more than 50000 locals"},
		"locals of two words":  {code(slices.Concat([]byte{2, 1, 0x63, 0x70, 0x7f}, many, []byte{0x7f, End})...), "section 10: function 0: 0x63 is not the type of a value"},
		"targets":              {code(slices.Concat([]byte{0, 0x41, 0, 0x0e}, many, []byte{End})...), "it names 4294967295 items"},
		"segments of data":     {section{sectionData, many}, "section 11: it names 4294967295 items"},
		"data":                 {section{sectionData, slices.Concat(constant, many)}, "section 11: it ends in the middle"},

		"real types":       {typed(maxItems+1, 0x60, 0, 0), "section 1: it has more than 524288 items"},
		"real parameters":  {section{sectionType, slices.Concat([]byte{1, 0x60}, U32(1001), bytes.Repeat([]byte{0x7f}, 1001), []byte{0})}, "section 1: a type has more than 1000 parameters or results"},
		"real elements":    {section{sectionElement, slices.Concat(constant, U32(1<<20), items)}, "section 9: it has more than 524288 items"},
		"real targets":     {code(slices.Concat([]byte{0, 0x41, 0, 0x0e}, U32(1<<20), items, []byte{0, End})...), "section 10: function 0: at byte 3: it has more than 524288 items"},
		"real branches":    {code(slices.Concat([]byte{0}, bytes.Repeat([]byte{0x02, 0x40, End}, 20_001), []byte{End})...), "section 10: function 0: it has more than 20000 blocks and branches"},
		"a table's rest":   {section{sectionTable, []byte{1, 0x70, 0, 1, 9}}, "section 4: it has 1 bytes after its last item"},
		"an export's rest": {section{sectionExport, append([]byte{0}, many...)}, "section 7: it has 5 bytes after its last item"},
		"a type's rest":    {section{sectionType, []byte{0, 0x60, 0, 0}}, "section 1: it has 3 bytes after its last item"},
		"a table of i32":   {section{sectionTable, []byte{1, 0x7f, 0, 1}}, "section 4: 0x7f is not the type of a reference"},
		"a null of two":    {section{sectionGlobal, []byte{1, 0x70, 0, 0xd0, 0x8b, 0x0b, End}}, "section 6: 0x8b is not the type of a reference"},
		"element kind 8":   {section{sectionElement, []byte{1, 8}}, "section 9: a segment has the unknown kind 8"},
		"data kind 3":      {section{sectionData, []byte{1, 3}}, "section 11: a segment has the unknown kind 3"},
		"a call":           {section{sectionGlobal, []byte{1, 0x7f, 0, 0x10, 0, End}}, "section 6: the instruction 0x10 is no constant"},
	} {
		t.Run(name, func(t *testing.T) {
			tool := open(t, Options{Bytes: with(t, Answering(Good).Bytes(), tt.section)})
			before := allocated()
			_, err := do(t, tool, say("x"))
			wantFailure(t, err, adapters.LaunchFailed, tt.message)
			if n := allocated() - before; n > 64<<20 {
				t.Errorf("its refusal takes %d MiB", n>>20)
			}
		})
	}
}

// The locals of all functions are bounded together: wazero keeps 8 bytes for each.
func TestLocalsOfAllFunctions(t *testing.T) {
	m := Answering(Good)
	for range maxAllLocals/maxLocals + 1 {
		m.Locals(maxLocals)
	}
	_, err := do(t, open(t, Options{Bytes: m.Bytes()}), say("x"))
	wantFailure(t, err, adapters.LaunchFailed, "its functions have more than 8388608 locals")
}

func TestManySections(t *testing.T) {
	b := append(Answering(Good).Bytes(), bytes.Repeat([]byte{0, 1, 0}, maxSections)...)
	_, err := do(t, open(t, Options{Bytes: b}), say("x"))
	wantFailure(t, err, adapters.LaunchFailed, "it has more than 1024 sections")
}

// Two readers may disagree: one takes a loop for part of an operand, the other for an instruction. Such a
// loop would have no check, and no deadline would end it.
func TestDisguisedLoops(t *testing.T) {
	for name, body := range map[string][]byte{
		// The type of the block is a reference to type 1536, 0x80 0x0c. A reader that takes only 0x63 for
		// the type reads i64.div_u and br.
		"in the type of a block": {0x02, 0x63, 0x80, 0x0c, 0x03, 0x40, 0x0c, 0, End, 0, End, Drop},
		// The opcode of v128.const has two bytes. For another reader 0x8c is i16x8.shr_s, and the 16 bytes
		// are code.
		"in a constant vector": slices.Concat([]byte{0x02, 0x40, 0x0c, 0, 0xfd, 0x8c, 0, End, 0x03, 0x40, 0x0c, 0, End, 0}, bytes.Repeat([]byte{1}, 9)),
	} {
		t.Run(name, func(t *testing.T) {
			m := Answering(Good)
			for i := range 1600 { // types
				m.Func("", strings.Join(strings.Split(strings.Repeat("i32", 1+i/40)+strings.Repeat("i64", 1+i%40), "i"), ",i")[1:]+"->")
			}
			m.Func("_initialize", "->", body)
			_, err := do(t, open(t, Options{Bytes: m.Bytes(), Timeout: time.Second}), say("x"))
			wantFailure(t, err, adapters.LaunchFailed, "failed to compile module")
		})
	}
}

// The end of a call interrupts the compiler, which would run for many minutes.
func TestCompilerIsInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles until it is interrupted")
	}
	m := Answering(Good)
	body := bytes.Repeat([]byte{0x20, 0, 0x04, 0x40, End}, 4000) // ifs
	for range 2000 {
		m.Func("", "->", body)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := open(t, Options{Bytes: m.Bytes()}).Call(ctx, say("x")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// with returns a module with s in place of its section of that kind, or in addition.
func with(t *testing.T, b []byte, s section) []byte {
	t.Helper()
	m, err := parse(b)
	if err != nil {
		t.Fatal(err)
	}
	sections := slices.DeleteFunc(m.sections, func(o section) bool { return o.id == s.id })
	at, _ := slices.BinarySearchFunc(sections, s, func(a, b section) int { return int(a.id) - int(b.id) })
	out := bytes.Clone(magic)
	for _, s := range slices.Insert(sections, at, s) {
		out = appendSection(out, s.id, s.content)
	}
	return out
}

func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
