package gemversion

import (
	"testing"

	"pgregory.net/rapid"
)

func TestCompare(t *testing.T) {
	// In order, the lowest first; two in one row are equal.
	rows := [][]string{
		{"0", "0.0"}, {"1.0.a"}, {"1.0.b2"}, {"1.0.b10"}, {"1.0-rc1", "1.0.pre.rc1"}, {"1.0.rc1"}, {"1", "1.0", "1.0.0"}, {"1.0.1"}, {"1.9"}, {"1.10"}, {"2"},
	}
	for i, row := range rows {
		for j, other := range rows {
			for _, x := range row {
				for _, y := range other {
					want := 0
					if i < j {
						want = -1
					} else if i > j {
						want = 1
					}
					if got := Compare(must(t, x), must(t, y)); got != want {
						t.Errorf("%s and %s: %d, want %d", x, y, got, want)
					}
				}
			}
		}
	}
}

func must(t *testing.T, text string) Version {
	t.Helper()
	v, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestRequirements(t *testing.T) {
	for _, tt := range []struct {
		text, version string
		want          bool
	}{
		{"", "1", true}, {"3.1.2", "3.1.2", true}, {"3.1", "3.1.2", false}, {"= 3.1", "3.1.0", true},
		{">= 3.0, < 4", "3.1.2", true}, {">=3.0,<3.1", "3.1.2", false}, {"!= 3.1.2", "3.1.2", false},
		{"~> 3.1", "3.9", true}, {"~> 3.1", "4.0", false}, {"~> 3.1.0", "3.1.9", true}, {"~> 3.1.0", "3.2", false},
		{"~> 3", "3.5", true}, {"~> 3", "4", false}, {"~> 3.1.0.rc1", "3.1.5", true}, {"~> 3.1", "4.0.rc1", false},
		{"> 3", "3.0", false}, {"<= 3.1.2", "3.1.2", true},
	} {
		list, err := ParseRequirements(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := list.Has(must(t, tt.version)); got != tt.want {
			t.Errorf("%q of %s: %v", tt.text, tt.version, got)
		}
	}
	for _, text := range []string{"x", ">=", "=> 3", "3..1", "~ 3", ">= 3 < 4", "99999999999999999999"} {
		if list, err := ParseRequirements(text); err == nil {
			t.Errorf("%q: %+v", text, list)
		}
	}
	if !must(t, "3.1.2").Starts(must(t, "3.1")) || must(t, "3.12").Starts(must(t, "3.1")) {
		t.Error("beginnings")
	}
}

func TestOrderProperty(t *testing.T) {
	text := rapid.StringMatching(`[0-9]{1,3}(\.([0-9]{1,3}|[a-z]{1,3}[0-9]?)){0,4}`)
	rapid.Check(t, func(t *rapid.T) {
		var v [3]Version
		for i := range v {
			var err error
			if v[i], err = Parse(text.Draw(t, "version")); err != nil {
				t.Fatal(err)
			}
		}
		if Compare(v[0], v[1]) != -Compare(v[1], v[0]) || Compare(v[0], v[0]) != 0 {
			t.Fatal("not antisymmetric")
		}
		if Compare(v[0], v[1]) <= 0 && Compare(v[1], v[2]) <= 0 && Compare(v[0], v[2]) > 0 {
			t.Fatal("not transitive")
		}
	})
}

func FuzzRequirements(f *testing.F) {
	f.Add("~> 3.1.0, >= 3.1.2", "3.1.4")
	f.Add("= 1.0-rc1", "1.0.pre.rc1")
	f.Fuzz(func(t *testing.T, text, version string) {
		v, err := Parse(version)
		if err != nil {
			return
		}
		if list, err := ParseRequirements(text); err == nil {
			list.Has(v)
		}
		if list, err := ParseRequirements("= " + version); err != nil || !list.Has(v) {
			t.Fatalf("%q is not itself: %v", version, err)
		}
	})
}
