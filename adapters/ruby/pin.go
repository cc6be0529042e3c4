package ruby

import (
	"context"
	"fmt"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/ruby/gemversion"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/pattern"
)

// RequiredToolchain implements adapters.Adapter: the version of the nearest .ruby-version,
// of the Gemfile, of the nearest .tool-versions.
func (a *Adapter) RequiredToolchain(ctx context.Context, dir string) (*adapters.Toolchain, error) {
	f := a.Files(dir)
	p, err := a.open(f)
	if err != nil {
		return nil, err
	}
	return p.pin(f)
}

func (p *project) pin(f *snapshot.Files) (*adapters.Toolchain, error) {
	if path, ok := f.Up(".ruby-version"); ok {
		if pin, err := filePin(f, path); pin != nil || err != nil {
			return pin, err
		}
	}
	if p.file != nil && p.file.Ruby != nil {
		return p.bundlerPin(f)
	}
	pin, err := f.ToolVersions("ruby", "ruby")
	if pin == nil || err != nil {
		return nil, err
	}
	return checked(pin, ".tool-versions")
}

// filePin reads a .ruby-version, "ruby-3.1.2@gemset".
func filePin(f *snapshot.Files, path string) (*adapters.Toolchain, error) {
	pin, err := f.VersionIn("ruby", path)
	if pin == nil || err != nil {
		return nil, err
	}
	text, _, _ := strings.Cut(pin.Version, "@")
	if text == "" || text == "system" {
		return nil, nil
	}
	pin.Version = strings.TrimPrefix(text, "ruby-")
	return checked(pin, ".ruby-version")
}

// bundlerPin returns the Gemfile's requirement, which Bundler enforces.
func (p *project) bundlerPin(f *snapshot.Files) (*adapters.Toolchain, error) {
	r := p.file.Ruby
	pin := &adapters.Toolchain{Tool: "ruby", Version: r.Requirement, File: r.Place.File, Line: r.Place.Line, Strict: true}
	switch {
	case r.From != "":
		other, err := filePin(f, r.From)
		if other != nil {
			other.Strict = true
		}
		return other, err
	case r.Engine != "" && r.Engine != "ruby":
		pin.Version = r.Engine + "-" + r.Requirement
	case exact.MatchString(r.Requirement) && strings.Count(r.Requirement, ".") < 2:
		pin.Version = "= " + r.Requirement // for Bundler "3.1" is 3.1.0
	}
	return checked(pin, "ruby")
}

var (
	exact = pattern.New(`^\d+(\.\d+)*$`)
	named = pattern.New(`^([a-z][a-z+]*)(?:-(\d[\w.]*(?:-[a-z]\w*)?))?$`)
	patch = pattern.New(`^(\d+\.\d+\.\d+)p\d+$`)
)

// checked refuses a malformed pin, so that bento reports it before anything runs.
func checked(pin *adapters.Toolchain, name string) (*adapters.Toolchain, error) {
	if _, err := parseWanted(pin.Version); err != nil {
		return nil, pin.Malformed(name, err, `write a version or a requirement, such as "3.3", "3.3.4" or "~> 3.3.0"`)
	}
	return pin, nil
}

// wanted is a parsed pin in one of its forms.
type wanted struct {
	engine string // "" for ruby
	start  *gemversion.Version
	all    gemversion.Requirements
}

// parseWanted reads "3.1", "3.1.2p20", "jruby-9.4", "~> 3.1.0, < 4".
func parseWanted(text string) (wanted, error) {
	text = strings.TrimSpace(text)
	if m := patch.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	w := wanted{}
	if m := named.FindStringSubmatch(text); m != nil {
		if w.engine, text = m[1], m[2]; text == "" {
			return w, nil
		}
	}
	if text == "" || strings.ContainsAny(text, "<>=~!,") {
		var err error
		w.all, err = gemversion.ParseRequirements(text)
		return w, err
	}
	v, err := gemversion.Parse(text)
	w.start = &v
	return w, err
}

// CheckPin implements adapters.PinChecker.
func (a *Adapter) CheckPin(want adapters.Toolchain, fingerprint string) adapters.Verdict {
	engine, found := field(fingerprint, "engine"), field(fingerprint, "ruby")
	w, err := parseWanted(want.Version)
	if w.engine != "" {
		found = field(fingerprint, "engine_version")
	}
	verdict := adapters.Verdict{Found: found}
	if engine != "ruby" && engine != "" {
		verdict.Found = engine + " " + found
	}
	v, versionErr := gemversion.Parse(found)
	switch {
	case versionErr != nil || want.Tool != "ruby":
		verdict.OK = true
		return verdict
	case err != nil:
		verdict.Hint = err.Error()
		return verdict
	case w.engine != "" && w.engine != engine:
	case w.start != nil:
		verdict.OK = v.Starts(*w.start)
	default:
		verdict.OK = w.all.Has(v)
	}
	if !verdict.OK {
		verdict.Hint = fmt.Sprintf("install it with a version manager, such as %q, or change the pin", "rbenv install "+plainVersion(want.Version))
	}
	return verdict
}

// plainVersion removes the operators of a requirement.
func plainVersion(text string) string {
	first, _, _ := strings.Cut(text, ",")
	return strings.TrimLeft(first, "<>=~! ")
}

// field returns the value of name in "ruby=3.1.2 engine=ruby".
func field(fingerprint, name string) string {
	for one := range strings.FieldsSeq(fingerprint) {
		if value, ok := strings.CutPrefix(one, name+"="); ok {
			return value
		}
	}
	return ""
}
