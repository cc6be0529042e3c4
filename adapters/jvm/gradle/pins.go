package gradle

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/jvm"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/pattern"
)

// daemonFile names the Java for Gradle itself
// (https://docs.gradle.org/current/userguide/gradle_daemon.html#sec:daemon_jvm_criteria).
const daemonFile = "gradle/gradle-daemon-jvm.properties"

// RequiredToolchain implements adapters.Adapter: the Java of the nearest file of a version
// manager and of the scripts, else of the catalog and the properties; and the Gradle of an
// incomplete wrapper.
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
	java := jvm.Pins(advice, a.rule(f, p))
	if java == nil {
		if java, err = a.called(f, p); err != nil {
			return nil, err
		}
	}
	_, gradle, err := jvm.GradleWrapper(f, a.host.Env)
	return jvm.Pins(java, gradle), err
}

// rule returns the Java that Gradle itself requires: the toolchain of a script or of the
// daemon, else the target of the compiler.
func (a *Adapter) rule(f *snapshot.Files, p *project) *adapters.Toolchain {
	var least *adapters.Toolchain
	for _, j := range p.facts.java {
		switch {
		case j.Version == "":
		case j.Toolchain:
			return &adapters.Toolchain{Tool: "java", Version: j.Version, File: j.file, Line: j.Line, Strict: !a.download}
		case least == nil:
			least = &adapters.Toolchain{Tool: "java", Version: ">=" + j.Version, File: j.file, Line: j.Line, Strict: true}
		}
	}
	path := filepath.Join(p.root(), daemonFile)
	if data, err := f.Read(path); err == nil {
		if v := jvm.ParseProperties(data)["toolchainVersion"]; len(jvm.ParseVersion(v.Value)) > 0 {
			return &adapters.Toolchain{Tool: "java", Version: v.Value, File: path, Line: v.Line, Strict: !a.download}
		}
	}
	return least
}

// called returns the version of Java in the catalog or the properties.
func (a *Adapter) called(f *snapshot.Files, p *project) (*adapters.Toolchain, error) {
	if path := filepath.Join(p.root(), "gradle", "libs.versions.toml"); f.IsFile(path) {
		c, err := a.catalogs.Read(f, path)
		if err != nil {
			return nil, err
		}
		if len(jvm.ParseVersion(c.Java.Text)) > 0 {
			return &adapters.Toolchain{Tool: "java", Version: c.Java.Text, File: path, Line: c.Java.Line}, nil
		}
	}
	for _, dir := range []string{p.dir, p.root()} {
		path := filepath.Join(dir, "gradle.properties")
		data, err := f.ReadIfExists(path)
		if err != nil {
			return nil, err
		}
		all := jvm.ParseProperties(data)
		for _, name := range []string{"java.toolchain.languageVersion", "java.version"} {
			if v := all[name]; len(jvm.ParseVersion(v.Value)) > 0 {
				return &adapters.Toolchain{Tool: "java", Version: v.Value, File: path, Line: v.Line}, nil
			}
		}
	}
	return nil, nil
}

var installed = pattern.New(`(?m)^jdk (\S+)`)

// toolchain reports whether a script configures a toolchain.
func (x *facts) toolchain() bool {
	return slices.ContainsFunc(x.java, func(j javaFact) bool { return j.Toolchain })
}

// CheckPin implements adapters.PinChecker. Any installed JDK may satisfy a script or a
// catalog; only the JDK in use may satisfy the file of a version manager.
func (a *Adapter) CheckPin(want adapters.Toolchain, fingerprint string) adapters.Verdict {
	if want.Tool == "gradle" {
		m := gradleVersion.FindStringSubmatch(fingerprint)
		if m == nil {
			return adapters.Verdict{OK: true}
		}
		return jvm.CheckTool(want, m[1], "install Gradle %s, or restore gradle-wrapper.jar")
	}
	var found []jvm.Version
	if name := filepath.Base(want.File); strings.Contains(name, "gradle") || name == "libs.versions.toml" {
		for _, m := range installed.FindAllStringSubmatch(fingerprint, 64) {
			found = append(found, jvm.ParseVersion(m[1]))
		}
	}
	return a.host.CheckJava(want, fingerprint, found...)
}
