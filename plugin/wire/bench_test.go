package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// findings returns a parseDiagnostics response of about n bytes.
func findings(n int) []byte {
	one := `{"file":"src/main.zig","line":12,"col":5,"severity":"error","message":"expected type \"u8\", found \"u16\"","source":"zig"},`
	list := strings.Repeat(one, n/len(one))
	return []byte(`{"jsonrpc":"2.0","id":1,"result":{"diagnostics":[` + list[:len(list)-1] + `]}}`)
}

func BenchmarkParseMessage(b *testing.B) {
	for name, body := range map[string][]byte{
		"small":    []byte(`{"jsonrpc":"2.0","id":1,"result":{"matches":true}}`),
		"findings": findings(1 << 20),
		"text":     []byte(`{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", 1<<20) + `"}`),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if m, err := ParseMessage(body, 64); err != nil || m.Kind != Response {
					b.Fatal(m.Kind, err)
				}
			}
		})
	}
	b.Run("findings with encoding/json.Valid", func(b *testing.B) {
		body := findings(1 << 20)
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			json.Valid(body)
		}
	})
}

func BenchmarkFrame(b *testing.B) {
	frame := appendFrame(nil, findings(1<<20))
	b.SetBytes(int64(len(frame)))
	for b.Loop() {
		if _, err := readFrame(bufio.NewReaderSize(bytes.NewReader(frame), 16<<10), Limits{}.withDefaults(), new(part)); err != nil {
			b.Fatal(err)
		}
	}
}
