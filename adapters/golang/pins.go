package golang

import (
	"context"
	"fmt"
	"go/version"
	"path/filepath"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/bentobuild/bento/adapters"
)

// RequiredToolchain implements adapters.Adapter: the newer of the go lines of
// go.mod and of the workspace in effect, else .tool-versions. A go line is a
// minimum that the go command enforces. A toolchain line is only a wish when no
// toolchain may be downloaded (https://go.dev/doc/toolchain), so it is not looked
// at then.
func (a *Adapter) RequiredToolchain(_ context.Context, dir string) (*adapters.Toolchain, error) {
	f := adapters.NewFiles(dir)
	p, err := a.project(f)
	if err != nil {
		return nil, err
	}
	return a.pin(f, p)
}

func (a *Adapter) pin(f *adapters.Files, p *project) (*adapters.Toolchain, error) {
	var newest *adapters.Toolchain
	for _, d := range p.demands() {
		t := d.pin(a.download)
		if t != nil && (newest == nil || version.Compare("go"+t.Version, "go"+newest.Version) > 0) {
			newest = t
		}
	}
	if newest != nil {
		return newest, nil
	}
	return f.ToolVersions("go", "golang", "go")
}

func (p *project) demands() []demand {
	var list []demand
	if p.mod != nil {
		list = append(list, p.mod.demand)
	}
	if p.work != nil {
		list = append(list, p.work.demand)
	}
	return list
}

// pin gives what one file asks for, nil for nothing.
func (d demand) pin(toolchains bool) *adapters.Toolchain {
	if named := strings.TrimPrefix(d.toolchain, "go"); toolchains && version.Compare(d.toolchain, "go"+d.goVersion) > 0 {
		return &adapters.Toolchain{Tool: "go", Version: named, File: d.file, Line: d.toolchainLine}
	}
	if d.goVersion == "" {
		return nil
	}
	return &adapters.Toolchain{Tool: "go", Version: d.goVersion, File: d.file, Line: d.goLine, Strict: true}
}

// CheckPin implements adapters.PinChecker. A version from go.mod or go.work is a
// minimum. Any other is a version or the beginning of one ("1.22" is any 1.22.x),
// or a range.
func (a *Adapter) CheckPin(want adapters.Toolchain, fingerprint string) adapters.Verdict {
	found := foundVersion(fingerprint)
	if found == "" {
		return adapters.Verdict{OK: true}
	}
	v := adapters.Verdict{Found: strings.TrimPrefix(found, "go")}
	switch base := filepath.Base(want.File); {
	case base == "go.mod" || base == "go.work":
		v.OK = version.Compare(found, "go"+want.Version) >= 0
	default:
		v.OK = satisfies(v.Found, strings.TrimPrefix(want.Version, "go"))
	}
	if !v.OK {
		v.Hint = fmt.Sprintf("install go %s from https://go.dev/dl, or ask for another version", want.Version)
	}
	return v
}

// foundVersion gives the version in a fingerprint without what a vendor or an
// experiment appended, such as "go1.26.1"; "" when there is none.
func foundVersion(fingerprint string) string {
	for line := range strings.Lines(fingerprint) {
		text, ok := strings.CutPrefix(line, "GOVERSION=")
		if !ok {
			continue
		}
		for _, word := range strings.Fields(strings.TrimPrefix(text, "devel ")) {
			word, _, _ = strings.Cut(word, "-")
			if version.IsValid(word) {
				return word
			}
		}
	}
	return ""
}

func satisfies(found, want string) bool {
	if found == want || strings.HasPrefix(found, want+".") || strings.HasPrefix(found, want+"rc") {
		return true
	}
	constraint, err := semver.NewConstraint(want)
	have, err2 := semver.NewVersion(found)
	exact := strings.Trim(want, "0123456789.") == ""
	return !exact && err == nil && err2 == nil && constraint.Check(have)
}
