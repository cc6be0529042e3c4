package interpreter

import (
	"fmt"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/pep440"
	"github.com/bentobuild/bento/internal/semver"
)

// wanted is a parsed pin in one of its forms.
type wanted struct {
	specs  pep440.Specifiers // ">=3.10,<3.13"
	semver *semver.Range     // "^3.10", as poetry writes it
	prefix string            // "3.12": a prefix of the version
	impl   string            // "cpython", "pypy"; "" for any
	free   bool              // "3.13t": without the global lock
	name   string            // of a pin without a version, such as "miniconda3-latest"
}

// parseWanted reads a pin.
func parseWanted(text string) (wanted, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "" || text == "*":
		return wanted{}, nil
	case len(text) > 256:
		return wanted{}, fmt.Errorf("a version of %d bytes", len(text))
	case strings.ContainsAny(text[:1], "<>=!") && !strings.ContainsAny(text, "^|") || strings.HasPrefix(text, "~="):
		specs, err := pep440.ParseSpecifiers(text)
		return wanted{specs: specs}, err
	case strings.ContainsAny(text, "^~|"):
		c, err := semver.ParseRange(text)
		if err != nil {
			return wanted{}, fmt.Errorf("%q is not a version or a range", text)
		}
		return wanted{semver: &c}, nil
	}
	return parseName(text)
}

// parseName reads "3.12", "cpython-3.12.4", "pypy3.10-7.3.12", "3.13t".
func parseName(text string) (wanted, error) {
	digit := strings.IndexAny(text, "0123456789")
	if digit < 0 {
		return wanted{name: text}, nil
	}
	impl := strings.ToLower(strings.TrimRight(text[:digit], "-@"))
	switch impl {
	case "", "python", "cpython", "pypy", "graalpy":
	default:
		return wanted{name: text}, nil
	}
	w := wanted{impl: strings.TrimPrefix(impl, "python")}
	version, rest, _ := strings.Cut(text[digit:], "-")
	if rest != "" && impl == "" && strings.ContainsAny(rest[:1], "0123456789") {
		return wanted{}, fmt.Errorf("%q is not a version", text)
	}
	if rest != "" && impl == "" {
		return wanted{name: text}, nil // "3.12-dev", "3.11-myproject"
	}
	w.prefix, w.free = strings.CutSuffix(version, "t")
	w.prefix = strings.TrimSuffix(strings.TrimSuffix(w.prefix, ".*"), ".x")
	if _, err := pep440.Parse(w.prefix); err != nil {
		return wanted{}, fmt.Errorf("%q is not a version or a range", text)
	}
	return w, nil
}

// Check reports whether the interpreter with this fingerprint satisfies want.
func Check(want adapters.Toolchain, fingerprint string) adapters.Verdict {
	found := Field(fingerprint, "python")
	if found == None && want.Tool == "python" {
		return adapters.Verdict{Found: "no such Python", Hint: howToGet(want.Version)}
	}
	v, err := pep440.Parse(strings.TrimSuffix(found, "+"))
	if err != nil || want.Tool != "python" {
		return adapters.Verdict{OK: true, Found: found}
	}
	impl := Field(fingerprint, "implementation")
	verdict := adapters.Verdict{Found: found}
	if impl != "cpython" {
		verdict.Found = impl + " " + found
	}
	w, err := parseWanted(want.Version)
	if err != nil {
		verdict.Hint = err.Error()
		return verdict
	}
	free := strings.Contains(Field(fingerprint, "abi"), "t-")
	verdict.OK = w.has(v) && (w.impl == "" || w.impl == impl) && (!w.free || free)
	if !verdict.OK {
		verdict.Hint = howToGet(want.Version)
	}
	return verdict
}

func (w wanted) has(v pep440.Version) bool {
	switch {
	case w.specs != nil:
		return w.specs.Has(v.Release())
	case w.semver != nil:
		s, err := semver.Parse(v.ReleaseText())
		return err == nil && w.semver.Has(s)
	case w.prefix != "":
		p, err := pep440.Parse(w.prefix)
		if err == nil && pep440.Compare(p, p.Release()) != 0 {
			return pep440.Compare(p, v) == 0
		}
		return err == nil && v.Starts(p)
	}
	return true
}

func howToGet(version string) string {
	install := "pyenv install 3"
	if first := strings.IndexAny(version, "0123456789"); first >= 0 {
		rest := version[first:]
		if end := strings.IndexFunc(rest, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }); end >= 0 {
			rest = rest[:end]
		}
		install = "pyenv install " + strings.Trim(rest, ".")
	}
	return fmt.Sprintf("install it with a version manager, such as %q, or change the pin", install)
}

// Field returns the value of name in "python=3.11.7 implementation=cpython".
func Field(fingerprint, name string) string {
	for field := range strings.FieldsSeq(fingerprint) {
		if value, ok := strings.CutPrefix(field, name+"="); ok {
			return value
		}
	}
	return ""
}
