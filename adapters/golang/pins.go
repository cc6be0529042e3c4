package golang

import (
	"context"
	"fmt"
	"go/version"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/golang/gomod"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/semver"
)

// RequiredToolchain implements adapters.Adapter: the newer of the go lines of go.mod and of
// the workspace in effect, else .tool-versions. A go line is a minimum that the go command
// enforces. A toolchain line is only a preference when go may not download toolchains
// (https://go.dev/doc/toolchain), and is ignored then.
func (a *Adapter) RequiredToolchain(_ context.Context, dir string) (*adapters.Toolchain, error) {
	f := a.Files(dir)
	p, err := a.project(f)
	if err != nil {
		return nil, err
	}
	return a.pin(f, p)
}

func (a *Adapter) pin(f *snapshot.Files, p *project) (*adapters.Toolchain, error) {
	var newest *adapters.Toolchain
	for _, d := range p.demands() {
		t := asked(d, a.download)
		if t != nil && (newest == nil || version.Compare("go"+t.Version, "go"+newest.Version) > 0) {
			newest = t
		}
	}
	if newest != nil {
		return newest, nil
	}
	return f.ToolVersions("go", "golang", "go")
}

func (p *project) demands() []gomod.Demand {
	var list []gomod.Demand
	if p.mod != nil {
		list = append(list, p.mod.Demand)
	}
	if p.work != nil {
		list = append(list, p.work.Demand)
	}
	return list
}

// asked returns the version that one file requires, or nil.
func asked(d gomod.Demand, toolchains bool) *adapters.Toolchain {
	if named := strings.TrimPrefix(d.Toolchain, "go"); toolchains && version.Compare(d.Toolchain, "go"+d.GoVersion) > 0 {
		return &adapters.Toolchain{Tool: "go", Version: named, File: d.File, Line: d.ToolchainLine}
	}
	if d.GoVersion == "" {
		return nil
	}
	return &adapters.Toolchain{Tool: "go", Version: d.GoVersion, File: d.File, Line: d.GoLine, Strict: true}
}

// CheckPin implements adapters.PinChecker. A version from go.mod or go.work is a minimum.
// Any other is a version or a prefix of one ("1.22" is any 1.22.x), or a range.
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
		v.Hint = fmt.Sprintf("install go %s from https://go.dev/dl, or change the required version", want.Version)
	}
	return v
}

// foundVersion returns the version in a fingerprint, such as "go1.26.1", without suffixes
// of a vendor or an experiment; "" when it has none.
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
	wanted, err := semver.ParseRange(want)
	have, err2 := semver.Parse(found)
	exact := strings.Trim(want, "0123456789.") == ""
	return !exact && err == nil && err2 == nil && wanted.Has(have)
}
