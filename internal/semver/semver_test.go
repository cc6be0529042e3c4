package semver

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"20": "20.0.0", "v20.1": "20.1.0", "3.25.1+g": "3.25.1+g", "1.97.0-nightly": "1.97.0-nightly", "9.1-dirty": "9.1.0-dirty", "01.2.3": "1.2.3",
		"": "", "20.1.2.3": "", "1.2.3-": "", "1..2": "", "1.x": "", "-1": "", "+1": "", "v": "", "vv1": "", "99999999999999999999": "", "1.2.3 ": "", "1." + strings.Repeat("1", maxText): "",
	} {
		v, err := Parse(text)
		if got := ""; err == nil {
			got = v.String()
			if got != want {
				t.Errorf("Parse(%q) = %s, want %q", text, got, want)
			}
		} else if want != "" {
			t.Errorf("Parse(%q): %v", text, err)
		}
		if _, err := ParseWhole(text); (err == nil) != (want != "" && text == want) {
			t.Errorf("ParseWhole(%q): %v", text, err)
		}
	}
}

func TestVersion(t *testing.T) {
	v := parsed(t, "20.1.3-rc.2+x")
	if v.Major() != 20 || v.Prerelease() != "rc.2" || v.Release().String() != "20.1.3" || v.Release().Prerelease() != "" {
		t.Errorf("%v: major %d, pre-release %q, release %v", v, v.Major(), v.Prerelease(), v.Release())
	}
	order := []string{"0.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1", "1.2", "1.10", "2"}
	for i := range order {
		for j := range order {
			want := min(1, max(-1, i-j))
			if got := parsed(t, order[i]).Compare(parsed(t, order[j])); got != want {
				t.Errorf("%s compared with %s = %d, want %d", order[i], order[j], got, want)
			}
		}
	}
}

func TestRange(t *testing.T) {
	for text, versions := range map[string]string{ // "!": not in the range
		"":                 "0.0.1 20.1 !1.0.0-rc.1",
		"*":                "0.0.1 20.1",
		"20":               "20 20.9.1 !21 !19.9",
		"v20.1":            "20.1.7 !20.2",
		"3.x.x":            "3.9.9 !4",
		"^18 || >=20.1":    "18.5 20.1 22 !19 !20.0.9",
		">=3.20, <4":       "3.20 3.25.1 !3.19.9 !4",
		"~1.2":             "1.2.9 !1.3",
		"^0.2.3":           "0.2.9 !0.3 !0.2.2",
		"1.2 - 2.3":        "1.2 2.3.9 !2.4 !1.1.9",
		"^20.0.0-rc.1":     "20.0.0-rc.2 20.1 !20.0.0-beta !20.1.0-rc.1 !21",
		"= 20.1.0+of.this": "20.1.0",
	} {
		r, err := ParseRange(text)
		if err != nil {
			t.Errorf("ParseRange(%q): %v", text, err)
			continue
		}
		checkHas(t, text, r, versions)
	}
	for _, text := range []string{"=<3", "!=3", "lts/*", "1.2.3.4", ">=20 ||", "99999999999999999999", "^", strings.Repeat("1 ", maxText)} {
		if _, err := ParseRange(text); err == nil {
			t.Errorf("ParseRange(%.20q): no error", text)
		}
	}
	checkHas(t, "zero", Range{}, "1.2.3 0.0.1-rc.1")
}

func TestCargo(t *testing.T) {
	for text, versions := range map[string]string{
		"1.2":         "1.2 1.9 !2 !1.1.9",
		"=1.2":        "1.2.9 !1.3",
		"~1.2.3":      "1.2.9 !1.3 !1.2.2",
		">=1.2, <1.5": "1.2 1.4.9 !1.5",
		"1.*":         "1.0 1.9 !2",
		"0.0.3":       "0.0.3 !0.0.4",
	} {
		r, err := ParseCargo(text)
		if err != nil {
			t.Errorf("ParseCargo(%q): %v", text, err)
			continue
		}
		checkHas(t, text, r, versions)
	}
}

func checkHas(t *testing.T, text string, r Range, versions string) {
	t.Helper()
	for version := range strings.FieldsSeq(versions) {
		version, not := strings.CutPrefix(version, "!")
		if got := r.Has(parsed(t, version)); got == not {
			t.Errorf("the range %q has %s: %v", text, version, got)
		}
	}
}

func parsed(t *testing.T, text string) Version {
	t.Helper()
	v, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func FuzzRange(f *testing.F) {
	for _, text := range []string{"^18 || >=20.1", "1.2 - 2.3", ">=3.20, <4", "~> 3", "=1.2.3-a.b+c"} {
		f.Add(text, "20.1.0-rc.1")
	}
	f.Fuzz(func(t *testing.T, text, version string) {
		v, err := Parse(version)
		if err != nil {
			return
		}
		if again, err := ParseWhole(v.String()); err != nil || again.Compare(v) != 0 {
			t.Fatalf("%q is %v, which is %v (%v)", version, v, again, err)
		}
		for _, parse := range []func(string) (Range, error){ParseRange, ParseCargo} {
			if r, err := parse(text); err == nil {
				r.Has(v)
			}
		}
	})
}
