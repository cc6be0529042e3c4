package ainb

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBytes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"aGk="`: "hi", `"\/\u002f8="`: "\xff\xff", `""`: "", `[104,105]`: "hi", `[]`: "", `null`: "<nil>",
		`"aGk"`: "error", `"aGl="`: "error", `"-_-_"`: "error", `[256]`: "error", `[-1]`: "error", `[null]`: "error", `[1.5]`: "error", `7`: "error", `{}`: "error",
	} {
		var b Bytes
		got := "error"
		if err := json.Unmarshal([]byte(text), &b); err == nil {
			if got = string(b); b == nil {
				got = "<nil>"
			}
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestBuffer(t *testing.T) {
	t.Parallel()
	const text = `{"width":3,"height":1,"cells":[[{"x":0,"y":0},{"symbol":"k","fg":{"r":9,"g":9,"b":9},"modifier":0}],[{"x":3,"y":0},{"symbol":"z","modifier":2}]]}`
	var b Buffer
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(b); err != nil || string(again) != text {
		t.Errorf("%s: %v", again, err)
	}
	want := []Placed{{Cell: Cell{Symbol: "k", FG: &Color{9, 9, 9}}}}
	if diff := cmp.Diff(want, b.Visible(Viewport{80, 24})); diff != "" {
		t.Error(diff)
	}
	if got := b.Visible(Viewport{}); got != nil {
		t.Errorf("no viewport: %v", got)
	}
	for _, bad := range []string{`[[{"x":0,"y":0}]]`, `[7]`, `[[{"x":-1},{}]]`, `[[{"x":65536},{}]]`, `[[{},{"fg":{"r":256}}]]`} {
		if err := json.Unmarshal([]byte(`{"cells":`+bad+`}`), &b); err == nil {
			t.Errorf("accepted %s", bad)
		}
	}
}

// FuzzBytes: bytes that were read have one written form, which reads back as the same bytes.
func FuzzBytes(f *testing.F) {
	f.Add([]byte(`"aGk="`))
	f.Add([]byte(`[1,2]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var b, again Bytes
		if json.Unmarshal(data, &b) != nil {
			return
		}
		text, err := json.Marshal(b)
		if err != nil || json.Unmarshal(text, &again) != nil || !bytes.Equal(b, again) || (b == nil) != (again == nil) {
			t.Errorf("%s: %q, then %s", data, b, text)
		}
	})
}
