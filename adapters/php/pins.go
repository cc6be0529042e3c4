package php

import (
	"context"
	"fmt"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/php/composer"
	"github.com/bentobuild/bento/adapters/php/constraint"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// RequiredToolchain implements adapters.Adapter: .php-version beside composer.json, else
// composer.json's requirement of php, else .tool-versions.
func (a *Adapter) RequiredToolchain(_ context.Context, dir string) (*adapters.Toolchain, error) {
	f := a.Files(dir)
	m, err := a.manifests.Read(f, manifestFile)
	if err != nil {
		return nil, err
	}
	return a.pin(f, m)
}

func (a *Adapter) pin(f *snapshot.Files, m *composer.Manifest) (*adapters.Toolchain, error) {
	data, err := f.ReadIfExists(".php-version")
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(string(data), "\ufeff"), "\n")
	if first = strings.TrimPrefix(strings.TrimSpace(first), "php-"); first != "" && first != "system" {
		return &adapters.Toolchain{Tool: "php", Version: first, File: f.Path(".php-version"), Line: 1}, nil
	}
	if r := m.Find("php"); r != nil && !r.Dev {
		// With config.platform.php composer ignores the installed version.
		return &adapters.Toolchain{Tool: "php", Version: r.Constraint, File: m.Path, Line: r.Line, Strict: !m.Platform}, nil
	}
	return f.ToolVersions("php", "php")
}

// CheckPin implements adapters.PinChecker. A version from composer.json is a constraint of
// Composer. Any other is a version, a prefix of one ("8.2" is any 8.2.x), or such a
// constraint.
func (a *Adapter) CheckPin(want adapters.Toolchain, fingerprint string) adapters.Verdict {
	have, ok := strings.CutPrefix(firstLine(fingerprint), "php ")
	if !ok {
		return adapters.Verdict{OK: true}
	}
	v := adapters.Verdict{Found: have}
	meets, known := constraint.Satisfies(have, want.Version)
	v.OK = meets || !known
	if !strings.HasSuffix(want.File, manifestFile) {
		v.OK = v.OK && known || have == want.Version || strings.HasPrefix(have, want.Version+".")
	}
	if !v.OK {
		v.Hint = fmt.Sprintf("install PHP %s, put it first on PATH, or change the required version", want.Version)
	}
	return v
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line)
}
