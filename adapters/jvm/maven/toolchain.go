package maven

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/jvm"
	"github.com/bentobuild/bento/adapters/jvm/pom"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/pattern"
	"github.com/bentobuild/bento/internal/probe"
)

// seen is the mvn on PATH.
type seen struct{ path, basis string }

func (a *Adapter) look() (seen, error) {
	b := probe.NewBasis(a.host.Env)
	path, err := b.Tool("mvn")
	if err != nil {
		return seen{}, a.missing(err)
	}
	if home, err := jvm.HomeOf(path); err == nil {
		b.File(filepath.Join(home, "lib"))
		b.File(filepath.Join(home, "conf", "settings.xml"))
	}
	b.IfThere("/etc/mavenrc")
	b.IfThere("/usr/local/etc/mavenrc")
	b.Home(".mavenrc")
	return seen{path, b.String()}, nil
}

func (a *Adapter) missing(err error) error {
	return adapters.Packages{
		Apt: "maven", Dnf: "maven", Zypper: "maven", Pacman: "maven", Apk: "maven", Brew: "maven", Else: "see https://maven.apache.org/install.html",
	}.Missing(err, a.host.Env)
}

// ToolchainBasis implements adapters.Steerer.
func (a *Adapter) ToolchainBasis(_ context.Context, dir string) (string, error) {
	java, err := a.host.Basis(dir)
	if err != nil {
		return "", err
	}
	w, err := jvm.MavenWrapper(a.Files(dir), a.host.Env)
	if err != nil {
		return "", err
	}
	b := probe.NewBasis(a.host.Env)
	switch {
	case w == nil:
		seen, err := a.seen.See(a.Source, a.look)
		if err != nil {
			return "", err
		}
		b.Text("mvn", seen.basis)
	case !w.There && !a.download:
		return "", w.Missing()
	case w.Text != "":
		b.Text("wrapper", w.Text)
	default:
		b.File(w.Script)
	}
	b.Text("settings", a.userSettings())
	return java + b.String(), nil
}

// asked returns the version of java, that of mvn or the wrapper's distribution, and the user's settings that
// change a build.
func (a *Adapter) asked(ctx context.Context, at probe.At) (string, error) {
	tool, err := a.tool(ctx, at)
	if err != nil {
		return "", err
	}
	java, err := a.host.VersionOutput(ctx, at)
	if err != nil {
		return "", err
	}
	text := java + "\n" + tool + "\n"
	if s := a.userSettings(); s != "" {
		text += "settings " + s + "\n"
	}
	return text, nil
}

// tool returns the version of Maven.
func (a *Adapter) tool(ctx context.Context, at probe.At) (string, error) {
	from := a.Source
	if at.Leave.Given() {
		from = from.Now() // an install may have fetched the wrapper's distribution
	}
	w, err := jvm.MavenWrapper(from.Files(at.Dir), a.host.Env)
	switch {
	case err != nil:
		return "", err
	case w != nil && !w.There && !a.download:
		return "", w.Missing()
	case w != nil && w.Text != "":
		return fmt.Sprintf("Apache Maven %s of the wrapper, %s", w.Version, w.Text), nil
	case w != nil && !at.Leave.Given():
		return "", w.Own()
	case w != nil:
		return a.mavenVersion(ctx, at.Of(w.Script))
	}
	seen, err := a.seen.See(a.Source, a.look)
	if err != nil {
		return "", err
	}
	return a.mavenVersion(ctx, at.Of(seen.path))
}

var (
	mavenVersion = pattern.New(`(?m)^Apache Maven (\d[\w.-]*)`)
	versionLine  = pattern.New(`(?m)^.*?(Apache Maven \d\S*.*?)\s*$`)
	runsOn       = pattern.New(`(?m)^(Java version: [^,\n]*)`)
	escapes      = pattern.New("\x1b\\[[0-9;]*[A-Za-z]")
)

// mavenVersion returns the version that mvn prints. mvn colours it also outside of a
// terminal.
func (a *Adapter) mavenVersion(ctx context.Context, at probe.At) (string, error) {
	out, err := a.host.Ask(ctx, probe.MavenVersion, at)
	if err != nil {
		return "", err
	}
	out = escapes.ReplaceAllString(out, "")
	m := versionLine.FindStringSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("%s -v: no version in its answer %.80q", at.Path, out)
	}
	return strings.TrimSpace(m[1] + "\n" + runsOn.FindString(out)), nil
}

// userSettings returns the digest of ~/.m2/settings.xml without servers and mirrors, and of
// the JDKs in toolchains.xml; "" when both are missing.
func (a *Adapter) userSettings() string {
	f := snapshot.NewFiles(filepath.Join(a.home, ".m2"))
	text := ""
	if data, err := f.Read("settings.xml"); err == nil {
		text = pom.Steers(data)
	}
	if data, err := f.Read("toolchains.xml"); err == nil {
		text += fmt.Sprintf(" toolchains %x", sha256.Sum256(data))
	}
	return text
}

// InstallScope implements adapters.Scoper. Maven fetches dependencies while it builds, and
// no file lists them, so an install only fetches the wrapper's distribution.
func (a *Adapter) InstallScope(_ context.Context, dir string) (adapters.Scope, error) {
	f := a.Files(dir)
	w, err := jvm.MavenWrapper(f, a.host.Env)
	if err != nil {
		return adapters.Scope{}, err
	}
	return w.Scope(f), nil
}

// Install implements adapters.Adapter.
func (a *Adapter) Install(ctx context.Context, req adapters.InstallRequest, log adapters.LogFunc) error {
	f := a.Now().Files(req.DishDir)
	w, err := jvm.MavenWrapper(f, a.host.Env)
	if err != nil || w == nil {
		return err
	}
	return w.Fetch(ctx, req.Leave(), req.Env.Or(a.host.Env), log)
}
