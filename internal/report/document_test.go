package report

import (
	"encoding/json"
	"strings"
	"testing"
)

// A document has no raw characters that steer a terminal or are invisible, and decodes to exactly the original
// text.
func TestDocumentsAreExact(t *testing.T) {
	want := "a\u200bb\u202ec\ufeff\u00ad\U000e0041\u2028😀\ufe0fé\n\x1b"
	var b strings.Builder
	if err := Write(&b, map[string]string{"x": want}); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexFunc(b.String(), unprintable); i >= 0 {
		t.Errorf("unprintable at %d: %q", i, b.String())
	}
	var got map[string]string
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil || got["x"] != want {
		t.Errorf("%q, %v, want %q", got["x"], err, want)
	}
}
