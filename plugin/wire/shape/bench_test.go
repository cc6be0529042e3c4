package shape

import (
	"strings"
	"testing"

	"github.com/bentobuild/bento/diagnostics"
)

func BenchmarkDecode(b *testing.B) {
	one := `{"file":"src/main.zig","line":12,"col":5,"severity":"error","message":"expected type \"u8\", found \"u16\"","source":"zig"},`
	list := strings.Repeat(one, 1<<20/len(one))
	raw := []byte(`{"diagnostics":[` + list[:len(list)-1] + `]}`)
	sh := Record(Must("diagnostics", List(1<<20, Record(
		Must("file", Text(1<<10)), Must("line", Int(0)), May("col", Int(0)),
		Must("severity", Text(10)), Must("message", Text(1<<10)), Must("source", Text(10)),
	))))
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		var d struct{ Diagnostics []diagnostics.Diagnostic }
		if err := Decode(raw, sh, &d); err != nil {
			b.Fatal(err)
		}
	}
}
