package jsontext

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestScalar(t *testing.T) {
	for _, tt := range []struct {
		text string
		end  int
		want string
	}{
		{`"a\"b" `, 6, ""},
		{`"long enough for eight bytes"`, 29, ""},
		{`-0.5e+7,`, 7, ""},
		{`null`, 4, ""},
		{`truely`, 4, ""},
		{`01`, 1, ""},
		{`"a`, 2, `'"'`},
		{`"\`, 2, "an escape"},
		{`"\x"`, 2, "an escape"},
		{`"\u12g4"`, 5, "four hexadecimal digits"},
		{"\"a\n\"", 2, "an escape for a control character"},
		{`-`, 1, "a digit"},
		{`1.x`, 2, "a digit"},
		{`1e+`, 3, "a digit"},
		{`nul`, 0, "a value"},
		{`{`, 0, "a value"},
		{``, 0, "a value"},
	} {
		if end, want := Scalar([]byte(tt.text), 0); end != tt.end || want != tt.want {
			t.Errorf("%s: got %d %q, want %d %q", tt.text, end, want, tt.end, tt.want)
		}
	}
}

// FuzzScalar holds that Scalar accepts what encoding/json accepts.
func FuzzScalar(f *testing.F) {
	for _, seed := range []string{`"a\u00e9\ud800"`, "-12.5E-3", "true", "0", `"\\x"`, "\"\xff\x7f\"", "1e5x"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		end, want := Scalar(text, 0)
		if end > len(text) {
			t.Fatalf("offset %d of %d", end, len(text))
		}
		if want == "" && !json.Valid(text[:end]) {
			t.Errorf("%q was accepted", text[:end])
		}
		value := bytes.TrimRight(text, " \t\r\n")
		if len(value) == 0 || bytes.IndexByte([]byte("{[ \t\r\n"), value[0]) >= 0 {
			return
		}
		if valid := json.Valid(value); valid != (want == "" && end == len(value)) {
			t.Errorf("%q: valid %v, but Scalar returned %d %q", value, valid, end, want)
		}
		if want == "" && value[0] == '"' && end == len(value) {
			var text string
			if err := json.Unmarshal(value, &text); err != nil || bytes.IndexByte(value, '\\') >= 0 && text != string(Unquote(value)) {
				t.Errorf("%q: %q, %v", value, Unquote(value), err)
			}
		}
	})
}
