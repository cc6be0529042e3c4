package pack

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type inner struct {
	Text  string
	Words []string
	Sum   [32]byte
}

type sample struct {
	A     int
	B     uint16
	C     bool
	D     float64
	E     time.Duration
	Text  string
	In    inner
	Many  []inner
	Ptr   *inner
	List  *[]inner
	Map   map[string]inner
	Pairs [2]string
	Left  int `pack:"-"`
}

func roundTrip(t interface{ Fatal(...any) }, in, out any) {
	var w Writer
	w.Add(in)
	w.Add("more")
	r := NewReader(w.Payload())
	var more string
	if r.Next(out) != nil || r.Next(&more) != nil || r.End() != nil || more != "more" {
		t.Fatal("what was packed cannot be read")
	}
}

func TestRoundTrip(t *testing.T) {
	for _, in := range []sample{
		{},
		{A: -5, B: 65535, C: true, D: -1.5, E: time.Hour, Text: "x", Many: []inner{}, Map: map[string]inner{}, List: &[]inner{}},
		{Text: "same", In: inner{Text: "same", Words: []string{"same", "", "\xff"}, Sum: [32]byte{1, 31: 2}}, Ptr: &inner{},
			Many: []inner{{Text: "a"}, {}}, Map: map[string]inner{"b": {Text: "c"}, "": {}}, Pairs: [2]string{"p", "q"}},
	} {
		var out sample
		roundTrip(t, in, &out)
		if diff := cmp.Diff(in, out); diff != "" {
			t.Error(diff)
		}
	}
}

func TestRoundTripOfAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := rapid.Make[struct {
			A []map[string]*int
			B struct{ X, Y []string }
			C [3]uint8
			D *[]bool
		}]().Draw(rt, "value")
		out := in
		reflect.ValueOf(&out).Elem().SetZero()
		roundTrip(rt, in, &out)
		if diff := cmp.Diff(in, out); diff != "" {
			rt.Fatal(diff)
		}
	})
}

func TestOneStringOnce(t *testing.T) {
	var w Writer
	w.Add([]string{"packages/p0001", "packages/p0001", "packages/p0001"})
	if n := len(w.Payload()); n > 20 {
		t.Errorf("%d bytes", n)
	}
}

func TestWhatCannotBePacked(t *testing.T) {
	for _, v := range []any{struct{ a int }{}, func() {}, map[int]string{}, struct{ X any }{}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%T was packed", v)
				}
			}()
			new(Writer).Add(v)
		}()
	}
}

// FuzzReader checks that any bytes are an error or a value.
func FuzzReader(f *testing.F) {
	var w Writer
	w.Add(sample{Text: "a", Many: []inner{{Words: []string{"a"}}}, Map: map[string]inner{"a": {}}})
	f.Add(w.Payload())
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReader(data)
		var out sample
		if r.Next(&out) != nil || r.End() != nil {
			return
		}
		var again sample
		roundTrip(t, out, &again)
	})
}

func BenchmarkRead(b *testing.B) {
	var in []sample
	for range 1000 {
		in = append(in, sample{Text: "a", Many: []inner{{Words: []string{"a", "b"}}, {}}, Ptr: &inner{}})
	}
	var w Writer
	w.Add(in)
	b.SetBytes(int64(len(w.Payload())))
	b.ReportAllocs()
	for b.Loop() {
		var out []sample
		if err := NewReader(w.Payload()).Next(&out); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzFields checks that fields read from any bytes are those that were written, or an error.
func FuzzFields(f *testing.F) {
	f.Add([]byte("\x03abc\x02\x01a\x00"))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func(data []byte) (text string, list []string, n int64, err error) {
			r := NewReader(data)
			text, list, n = r.String(), r.Strings(), r.Int()
			return text, list, n, r.End()
		}
		text, list, n, err := read(data)
		if err != nil {
			return
		}
		var w Writer
		w.String(text)
		w.Strings(list)
		w.Int(n)
		again, words, m, err := read(w.Payload())
		if err != nil || again != text || m != n || !cmp.Equal(words, list) {
			t.Errorf("%q %q %d, then %q %q %d, %v", text, list, n, again, words, m, err)
		}
	})
}

func TestMissingFields(t *testing.T) {
	var w Writer
	w.String("text")
	for _, data := range [][]byte{w.Payload()[:3], append(w.Payload(), 0), nil, {0xff}} {
		r := NewReader(data)
		_ = r.String()
		if r.End() == nil {
			t.Errorf("%q: no error", data)
		}
	}
	r := NewReader([]byte{9, 'a', 'b'})
	if r.String() != "" || r.Byte() != 0 || r.Uint() != 0 || r.Count(1) != 0 || len(r.Strings()) != 0 {
		t.Error("fields after a missing one are not zero")
	}
}
