package gradle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/jvm"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/pattern"
	"github.com/bentobuild/bento/internal/probe"
)

// seen is the gradle on PATH.
type seen struct{ path, basis string }

func (a *Adapter) look() (seen, error) {
	b := probe.NewBasis(a.host.Env)
	path, err := b.Tool("gradle")
	if err != nil {
		return seen{}, a.missing(err)
	}
	if home, err := jvm.HomeOf(path); err == nil {
		b.File(filepath.Join(home, "lib"))
	}
	return seen{path, b.String()}, nil
}

func (a *Adapter) missing(err error) error {
	return adapters.Packages{
		Apt: "gradle", Dnf: "gradle", Zypper: "gradle", Pacman: "gradle", Apk: "gradle", Brew: "gradle", Else: "see https://gradle.org/install",
	}.Missing(err, a.host.Env)
}

// tool is the Gradle of a directory and its Java.
type tool struct {
	wrapper *jvm.Wrapper // nil for the one on PATH
	seen    seen
	home    string // of the JDK that the settings name, "" for that of the environment
	jdks    []jvm.Home
}

func (a *Adapter) tool(dir string) (t tool, err error) {
	f := a.Files(dir)
	p, err := a.open(f)
	if err != nil {
		return t, err
	}
	if t.wrapper, _, err = jvm.GradleWrapper(f, a.host.Env); err != nil {
		return t, err
	}
	switch {
	case t.wrapper == nil:
		if t.seen, err = a.seen.See(a.Source, a.look); err != nil {
			return t, err
		}
	case !t.wrapper.There && !a.download:
		return t, t.wrapper.Missing()
	}
	t.home = a.javaHome(f, p)
	if p.facts.toolchain() || f.IsFile(filepath.Join(p.root(), daemonFile)) {
		t.jdks = jvm.Installed(a.host.Env)
	}
	return t, nil
}

// javaHome returns org.gradle.java.home of the user, else of the build.
func (a *Adapter) javaHome(f *snapshot.Files, p *project) string {
	for _, dir := range []string{jvm.GradleHome(a.host.Env), p.root()} {
		data, err := f.Read(filepath.Join(dir, "gradle.properties"))
		if err != nil {
			continue
		}
		if home := jvm.ParseProperties(data)["org.gradle.java.home"].Value; home != "" {
			return home
		}
	}
	return ""
}

// ToolchainBasis implements adapters.Steerer.
func (a *Adapter) ToolchainBasis(_ context.Context, dir string) (string, error) {
	t, err := a.tool(dir)
	if err != nil {
		return "", err
	}
	b := probe.NewBasis(a.host.Env)
	switch {
	case t.wrapper == nil:
		b.Text("gradle", t.seen.basis)
	case t.wrapper.Text != "":
		b.Text("wrapper", t.wrapper.Text)
	default:
		b.File(t.wrapper.Script)
	}
	java := ""
	if t.home != "" {
		b.File(filepath.Join(t.home, "release"))
	} else if java, err = a.host.Basis(dir); err != nil {
		return "", err
	}
	for _, home := range t.jdks {
		b.Text(home.Dir, home.Text)
	}
	b.Text("settings", a.userSettings())
	return java + b.String(), nil
}

// asked returns the version of java, that of gradle or the wrapper's distribution, the JDKs that a toolchain
// may choose, and the user's settings that change a build.
func (a *Adapter) asked(ctx context.Context, at probe.At) (string, error) {
	t, err := a.tool(at.Dir)
	if err != nil {
		return "", err
	}
	java, err := a.java(ctx, at, t.home)
	if err != nil {
		return "", err
	}
	gradle := ""
	switch {
	case t.wrapper == nil:
		gradle, err = a.version(ctx, at.Of(t.seen.path))
	case t.wrapper.Text != "":
		gradle = fmt.Sprintf("Gradle %s of the wrapper, %s", t.wrapper.Version, t.wrapper.Text)
	case !at.Leave.Given():
		err = t.wrapper.Own()
	default:
		gradle, err = a.version(ctx, at.Of(t.wrapper.Script))
	}
	if err != nil {
		return "", err
	}
	text := java + "\n" + gradle + "\n"
	for _, home := range t.jdks {
		text += "jdk " + home.Text + "\n"
	}
	if s := a.userSettings(); s != "" {
		text += "settings " + s + "\n"
	}
	return text, nil
}

// java returns the version that java prints, or that of the release file of a JDK in the
// settings.
func (a *Adapter) java(ctx context.Context, at probe.At, home string) (string, error) {
	if home == "" {
		return a.host.VersionOutput(ctx, at)
	}
	h := jvm.Look(home)
	if h.Version == nil {
		return "", &adapters.MissingTool{Tool: "java", Hint: fmt.Sprintf("org.gradle.java.home is %q, which is not a JDK; correct it in gradle.properties", home)}
	}
	version, _, _ := strings.Cut(h.Text, " ")
	return fmt.Sprintf("java version %q\n%s", version, h.Text), nil
}

var (
	gradleVersion = pattern.New(`(?m)^Gradle (\d[\w.+-]*)`)
	runsOn        = pattern.New(`(?m)^(?:JVM|Launcher JVM|Daemon JVM):\s*(.*?)\s*$`)
)

func (a *Adapter) version(ctx context.Context, at probe.At) (string, error) {
	out, err := a.host.Ask(ctx, probe.GradleVersion, at)
	if err != nil {
		return "", err
	}
	m := gradleVersion.FindString(out)
	if m == "" {
		return "", fmt.Errorf("%s --version: no version in its answer %.80q", at.Path, out)
	}
	for _, line := range runsOn.FindAllString(out, 4) {
		m += "\n" + strings.Join(strings.Fields(line), " ")
	}
	return m, nil
}

// harmless matches settings of the user that do not change outputs, and secrets.
var harmless = pattern.New(`(?i)^org\.gradle\.(daemon|parallel|caching|jvmargs|workers|console|logging|vfs|configureondemand|priority|warning|welcome|debug|java\.home)` +
	`|^systemProp\.(https?|socks|javax\.net)|user|password|token|secret|credential|key|signing`)

// userSettings returns the digest of the files in GRADLE_USER_HOME that change a build:
// properties and init scripts; "" when there are none.
func (a *Adapter) userSettings() string {
	f := snapshot.NewFiles(jvm.GradleHome(a.host.Env))
	h := sha256.New()
	found := false
	if data, err := f.Read("gradle.properties"); err == nil {
		all := jvm.ParseProperties(data)
		for _, name := range sortedNames(all) {
			if !harmless.MatchString(name) {
				found = true
				fmt.Fprintf(h, "%q=%q\n", name, all[name].Value)
			}
		}
	}
	scripts := []string{"init.gradle", "init.gradle.kts"}
	for _, e := range f.List("init.d") {
		if strings.HasSuffix(e.Name(), ".gradle") || strings.HasSuffix(e.Name(), ".gradle.kts") {
			scripts = append(scripts, filepath.Join("init.d", e.Name()))
		}
	}
	for _, name := range scripts {
		if data, err := f.Read(name); err == nil {
			found = true
			fmt.Fprintf(h, "%q %d\n", name, len(data))
			h.Write(data)
		}
	}
	if !found {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func sortedNames(m map[string]jvm.Property) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// InstallScope implements adapters.Scoper. Gradle fetches dependencies while it builds, so
// an install only fetches the wrapper's distribution.
func (a *Adapter) InstallScope(_ context.Context, dir string) (adapters.Scope, error) {
	f := a.Files(dir)
	w, _, err := jvm.GradleWrapper(f, a.host.Env)
	if err != nil {
		return adapters.Scope{}, err
	}
	return w.Scope(f), nil
}

// Install implements adapters.Adapter.
func (a *Adapter) Install(ctx context.Context, req adapters.InstallRequest, log adapters.LogFunc) error {
	w, _, err := jvm.GradleWrapper(a.Now().Files(req.DishDir), a.host.Env)
	if err != nil || w == nil {
		return err
	}
	return w.Fetch(ctx, req.Leave(), req.Env.Or(a.host.Env), log)
}
