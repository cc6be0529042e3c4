package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParts(t *testing.T) {
	d := Open(t.TempDir())
	p := d.OpenParts("parts", 1)
	if p.Get("a", new(string)) {
		t.Error("a missing file has a value")
	}
	p.Set("a", "text")
	p.Set("b", map[string][]int{"x": {1, 2}})
	if err := p.Save(); err != nil {
		t.Fatal(err)
	}
	before := d.Stamp("parts")
	p = d.OpenParts("parts", 1)
	var a string
	var b map[string][]int
	if !p.Get("a", &a) || !p.Get("b", &b) || a != "text" {
		t.Errorf("got %q, %v", a, b)
	}
	if diff := cmp.Diff(map[string][]int{"x": {1, 2}}, b); diff != "" {
		t.Error(diff)
	}
	if p.Get("b", new(string)) {
		t.Error("a value of another type is read")
	}
	p.Set("a", "text")
	if err := p.Save(); err != nil || d.Stamp("parts") != before {
		t.Errorf("the same values are written again (%v)", err)
	}
	if d.OpenParts("parts", 2).Get("a", new(string)) {
		t.Error("a file of another version has a value")
	}
	var none *Parts
	none.Set("a", 1)
	if none.Get("a", new(int)) || none.Save() != nil {
		t.Error("nil parts have a value")
	}
}

// FuzzParts opens any bytes as parts.
func FuzzParts(f *testing.F) {
	f.Add([]byte("\x01\x01a\x03\x00\x01x"))
	f.Add([]byte{1, 1, 'a', 200, 1})
	f.Fuzz(func(t *testing.T, payload []byte) {
		d := Open(t.TempDir())
		if err := d.Store("parts", 1, payload); err != nil {
			t.Fatal(err)
		}
		p := d.OpenParts("parts", 1)
		p.Get("a", new(string))
		p.Set("b", "text")
		if err := p.Save(); err != nil {
			t.Fatal(err)
		}
		var b string
		if !d.OpenParts("parts", 1).Get("b", &b) || b != "text" {
			t.Errorf("got %q", b)
		}
	})
}
