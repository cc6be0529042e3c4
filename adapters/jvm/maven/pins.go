package maven

import (
	"context"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/jvm"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// RequiredToolchain implements adapters.Adapter: the nearest file of a version manager, and
// the versions that the compiler and the enforcer require, without which Maven itself
// fails.
func (a *Adapter) RequiredToolchain(_ context.Context, dir string) (*adapters.Toolchain, error) {
	f := a.Files(dir)
	p, err := a.open(f)
	if err != nil {
		return nil, err
	}
	return a.pin(f, p)
}

func (a *Adapter) pin(f *snapshot.Files, p *project) (*adapters.Toolchain, error) {
	advice, err := jvm.VersionFiles(f)
	if err != nil {
		return nil, err
	}
	return jvm.Pins(advice, p.needs(), p.enforced("requireMavenVersion", "maven")), nil
}

// needs returns the version of Java that the build requires: the greater of the compiler's
// target and the enforcer's rule.
func (p *project) needs() *adapters.Toolchain {
	rule := p.enforced("requireJavaVersion", "java")
	for _, name := range []string{"release", "target", "source"} {
		v, m := p.chain.Compiler(name)
		version := jvm.ParseVersion(v.Text)
		if m == nil || len(version) == 0 || version.Major() > 1000 {
			continue
		}
		if rule != nil && jvm.Minimum(rule.Version) >= version.Major() {
			return rule
		}
		// A compiler can target its own and older releases.
		return &adapters.Toolchain{Tool: "java", Version: ">=" + v.Text, File: m.Path, Line: v.Line, Strict: true}
	}
	return rule
}

// enforced returns the version that a rule of the enforcer requires. A bare one is a
// minimum (https://maven.apache.org/enforcer/enforcer-rules/versionRanges.html).
func (p *project) enforced(rule, tool string) *adapters.Toolchain {
	v, m := p.chain.Rule(rule)
	if m == nil {
		return nil
	}
	if _, ok := (jvm.Version{}).Satisfies(v.Text); !ok {
		return nil
	}
	pin := &adapters.Toolchain{Tool: tool, Version: v.Text, File: m.Path, Line: v.Line, Strict: true}
	if v.Text[0] != '[' && v.Text[0] != '(' {
		pin.Version = ">=" + v.Text
	}
	return pin
}

// CheckPin implements adapters.PinChecker.
func (a *Adapter) CheckPin(want adapters.Toolchain, fingerprint string) adapters.Verdict {
	if want.Tool == "maven" {
		m := mavenVersion.FindStringSubmatch(fingerprint)
		if m == nil {
			return adapters.Verdict{OK: true}
		}
		return jvm.CheckTool(want, m[1], "install Maven %s, or give the project a wrapper of that version")
	}
	return a.host.CheckJava(want, fingerprint)
}
