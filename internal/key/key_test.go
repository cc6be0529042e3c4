package key

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bentobuild/bento/cache"
)

// step is one call of a Builder.
type step struct {
	Kind  int
	Name  string
	Value string
	List  []string
	Set   bool
}

func (s step) apply(b *builder) {
	switch s.Kind {
	case 0:
		b.Text(s.Name, s.Value)
	case 1:
		b.List(s.Name, s.List)
	case 2:
		b.Env(s.Name, s.Value, s.Set)
	case 3:
		b.Files(s.Name, cache.Sum([]byte(s.Value)))
	case 4:
		b.Task(s.Name, cache.Key(cache.Sum([]byte(s.Value))))
	}
}

// seen returns the part of a step that the key depends on.
func (s step) seen() step {
	switch s.Kind {
	case 1:
		s.Value, s.Set = "", false
	case 2:
		s.List = nil
		if !s.Set {
			s.Value = ""
		}
	default:
		s.List, s.Set = nil, false
	}
	return s
}

func steps(t *rapid.T, label string) []step {
	text := rapid.SampledFrom([]string{"", "a", "b", "ab", "a\x00", "\x00a", "unset", "="})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{
			Kind: rapid.IntRange(0, 4).Draw(t, "kind"), Name: text.Draw(t, "name"), Value: text.Draw(t, "value"),
			List: rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "a\x00", "a\x00b"}), 0, 3).Draw(t, "list"), Set: rapid.Bool().Draw(t, "set"),
		}
	}), 0, 4).Draw(t, label)
}

func keyOf(list []step, secret byte) cache.Key {
	b := (&builderPool{Secret: [32]byte{secret}}).New()
	for _, s := range list {
		s.apply(b)
	}
	return b.Key()
}

// A16: two lists of ingredients have one key exactly when they are the same list.
func TestKeyIsInjective(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := steps(t, "x"), steps(t, "y")
		same := slices.EqualFunc(x, y, func(a, b step) bool { return cmp.Equal(a.seen(), b.seen(), cmpEmpty) })
		if (keyOf(x, 1) == keyOf(y, 2)) != same {
			t.Fatalf("same ingredients: %v, same key: %v\n%v\n%v", same, !same, x, y)
		}
	})
}

// TestKeyHasLengths (A16): parts whose concatenations are equal have different keys, because the key
// includes their lengths.
func TestKeyHasLengths(t *testing.T) {
	// Each pair would be one sequence of bytes without the lengths of names, of values, or of the
	// items of lists.
	length := func(n byte) string { return string([]byte{n}) }
	items := func(values ...string) func(*builder) {
		return func(b *builder) { b.List("a", values) }
	}
	text := func(parts ...string) func(*builder) {
		return func(b *builder) {
			for i := 0; i < len(parts); i += 2 {
				b.Text(parts[i], parts[i+1])
			}
		}
	}
	for name, pair := range map[string][2]func(*builder){
		"name and value":        {text("ab", "c"), text("a", "bc")},
		"a length in the name":  {text("", length(0)), text(length(1), "")},
		"a length in the value": {text("x", length(1)+"y"), text("x"+length(2), "y")},
		"one and two":           {text("a", "b", "c", "d"), text("a", "bcd")},
		"a whole one in a value": {
			text("a", "b", "c", "d"), text("a", "b"+string(byte(kindText))+length(1)+"c"+length(1)+"d"),
		},
		"a whole one without its length": {
			text("a", "b", "c", "d"), text("a", "b"+string(byte(kindText))+length(1)+"cd"),
		},
		"lists of one length":   {items("b", "cd"), items("bc", "d")},
		"a length in a list":    {items("b", length(1)+"c"), items("b"+length(2), "c")},
		"a list of two and one": {items("b", "c"), items("b" + length(1) + "c")},
		"a text in a list": {items("\x00", ""), func(b *builder) {
			items()(b)
			text("", "")(b)
		}},
		"list and text": {items("b"), text("a", "b")},
		"lists":         {items("b", "c"), items("bc")},
		"list and NULs": {items("b"), text("a", "b\x00")},
		"NULs in lists": {items("b", "c"), items("b\x00c")},
		"empty list":    {items(), text("a", "")},
		"empty lists":   {items(), items("")},
		"unset":         {func(b *builder) { b.Env("a", "", false) }, func(b *builder) { b.Env("a", "", true) }},
	} {
		x, y := (&builderPool{Secret: [32]byte{}}).New(), (&builderPool{Secret: [32]byte{}}).New()
		pair[0](x)
		pair[1](y)
		if x.Key() == y.Key() {
			t.Errorf("%s: one key", name)
		}
	}
}

// cmpEmpty makes the nil list and the empty one the same.
var cmpEmpty = cmp.Comparer(func(a, b []string) bool { return slices.Equal(a, b) })

func TestEnvRecordHoldsNoValue(t *testing.T) {
	b := (&builderPool{Secret: [32]byte{1}}).New()
	b.Env("TOKEN", "hunter2", true)
	b.Env("EMPTY", "", true)
	b.Env("GONE", "", false)
	list := b.Ingredients()
	for _, in := range list {
		if strings.Contains(in.Value, "hunter2") {
			t.Errorf("%s is recorded as %q", in.Name, in.Value)
		}
	}
	if list[1].Value == list[2].Value {
		t.Errorf("empty and unset are both recorded as %q", list[1].Value)
	}
}

func TestIngredientsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := (&builderPool{Secret: [32]byte{}}).New()
		for _, s := range steps(t, "steps") {
			s.apply(b)
		}
		got, err := decodeIngredients(encodeIngredients(b.Ingredients()))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(b.Ingredients(), got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFileSetRoundTrip(t *testing.T) {
	set := fileSet{
		{Path: "a\nb", Exec: true, Sum: cache.Sum([]byte("x"))},
		{Path: "\xff", Target: "../elsewhere"},
	}
	got, err := decodeFileSet(set.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(set, got); diff != "" {
		t.Error(diff)
	}
	if set.Digest() != cache.Sum(set.Encode()) {
		t.Error("the digest is not that of the blob")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encodeIngredients([]ingredient{{Kind: kindText, Name: "a", Value: "b"}}))
	f.Add(fileSet{{Path: "a"}}.Encode())
	f.Fuzz(func(t *testing.T, blob []byte) {
		if list, err := decodeIngredients(blob); err == nil {
			if again, err := decodeIngredients(encodeIngredients(list)); err != nil || !slices.Equal(list, again) {
				t.Errorf("%v became %v, %v", list, again, err)
			}
		}
		if set, err := decodeFileSet(blob); err == nil {
			if again, err := decodeFileSet(set.Encode()); err != nil || !slices.Equal(set, again) {
				t.Errorf("%v became %v, %v", set, again, err)
			}
		}
	})
}
