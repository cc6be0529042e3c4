package jvm

import (
	"context"
	"crypto/md5"
	"math/big"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/pattern"
	"github.com/bentobuild/bento/internal/probe"
)

// Wrapper is a script of the project that starts a fixed version of Maven (https://maven.apache.org/wrapper) or
// Gradle (https://docs.gradle.org/current/userguide/gradle_wrapper.html), and fetches it first if it is missing.
type Wrapper struct {
	Script string // absolute
	// Version is the version of the tool, "" when it is unknown.
	Version string
	// Text identifies the distribution, "" when it is unknown.
	Text string
	// There reports whether the distribution is already fetched.
	There bool

	tool, option string // "Maven", "-v"
	settings     string // the file that sets the version, or ""
}

var distribution = pattern.New(`^(?:apache-maven|gradle)-(\d[\w.+-]*?)(?:-(?:bin|all|src))?\.(?:zip|tar\.gz)$`)

// describe reads the properties of a wrapper.
func (w *Wrapper) describe(properties map[string]Property) (url string) {
	url = properties["distributionUrl"].Value
	w.Text = strings.TrimSpace(url + " " + properties["distributionSha256Sum"].Value)
	if m := distribution.FindStringSubmatch(path.Base(url)); m != nil {
		w.Version = m[1]
	}
	return url
}

// MavenWrapper returns the nearest ./mvnw in f's directory or above, or nil.
func MavenWrapper(f *snapshot.Files, env adapters.Environ) (*Wrapper, error) {
	script, ok := f.Up("mvnw")
	if !ok {
		return nil, nil
	}
	w := &Wrapper{Script: script, There: true, tool: "Maven", option: "-v"}
	dir := filepath.Join(filepath.Dir(script), ".mvn", "wrapper")
	w.settings = filepath.Join(dir, "maven-wrapper.properties")
	data, err := f.ReadIfExists(w.settings)
	if data == nil || err != nil {
		return w, err // a script of another kind
	}
	properties := ParseProperties(data)
	if w.describe(properties); w.Version == "" {
		return w, nil
	}
	w.There = mavenIsThere(f, env, w.Version)
	if properties["distributionType"].Value != "only-script" && !f.IsFile(filepath.Join(dir, "maven-wrapper.jar")) {
		// The scripts that need the jar fetch it too.
		text, err := f.Read(script)
		w.There = w.There && err == nil && !strings.Contains(string(text), "maven-wrapper.jar")
	}
	return w, nil
}

// mavenIsThere reports whether a version is in the directories where the kinds of wrappers
// unpack it: shell scripts use HOME, the jar uses the home of the account.
func mavenIsThere(f *snapshot.Files, env adapters.Environ, version string) bool {
	homes := []string{env.Get("MAVEN_USER_HOME")}
	if homes[0] == "" {
		homes = []string{filepath.Join(env.Get("HOME"), ".m2"), filepath.Join(UserHome(env), ".m2")}
	}
	for _, home := range homes {
		dists := f.Beyond().Whole(filepath.Join(home, "wrapper", "dists"))
		for _, below := range []string{filepath.Join("*", "bin", "mvn"), filepath.Join("*", "apache-maven-"+version, "bin", "mvn")} {
			if found, _ := filepath.Glob(filepath.Join(dists, "apache-maven-"+version+"*", below)); len(found) > 0 {
				return true
			}
		}
	}
	return false
}

// GradleWrapper returns the nearest ./gradlew in f's directory or above, or nil. Without its jar,
// which source archives leave out, the script cannot run: GradleWrapper then returns only its
// version, as a pin.
func GradleWrapper(f *snapshot.Files, env adapters.Environ) (w *Wrapper, pin *adapters.Toolchain, err error) {
	script, ok := f.Up("gradlew")
	if !ok {
		return nil, nil, nil
	}
	w = &Wrapper{Script: script, There: true, tool: "Gradle", option: "--version"}
	dir := filepath.Join(filepath.Dir(script), "gradle", "wrapper")
	w.settings = filepath.Join(dir, "gradle-wrapper.properties")
	data, err := f.ReadIfExists(w.settings)
	if err != nil {
		return nil, nil, err
	}
	properties := ParseProperties(data)
	url := w.describe(properties)
	if !f.IsFile(filepath.Join(dir, "gradle-wrapper.jar")) {
		if text, err := f.Read(script); err == nil && strings.Contains(string(text), "gradle-wrapper.jar") {
			if w.Version != "" {
				pin = &adapters.Toolchain{Tool: "gradle", Version: w.Version, File: w.settings, Line: properties["distributionUrl"].Line}
			}
			return nil, pin, nil
		}
	}
	if strings.HasPrefix(url, "http") {
		name := strings.TrimSuffix(strings.TrimSuffix(path.Base(url), ".zip"), ".tar.gz")
		w.There = f.Beyond().IsFile(filepath.Join(GradleHome(env), "wrapper", "dists", name, urlHash(url), path.Base(url)+".ok"))
	}
	return w, nil, nil
}

// GradleHome returns the directory of Gradle's downloads and the user's settings.
func GradleHome(env adapters.Environ) string {
	if home := env.Get("GRADLE_USER_HOME"); home != "" {
		return home
	}
	return filepath.Join(UserHome(env), ".gradle")
}

// urlHash returns the name that the wrapper uses for the directory of a distribution.
func urlHash(url string) string {
	sum := md5.Sum([]byte(url))
	return new(big.Int).SetBytes(sum[:]).Text(36)
}

// Own returns the error of a wrapper whose version only the wrapper knows.
func (w *Wrapper) Own() error {
	return &adapters.KnownAtRun{Why: w.Script + " is the project's own program"}
}

// Missing returns the error of a wrapper that would have to fetch its tool and may not.
func (w *Wrapper) Missing() error {
	return &adapters.MissingTool{
		Tool: w.tool + " " + w.Version,
		Hint: filepath.Base(w.Script) + " would fetch it: run \"" + w.Command(filepath.Dir(w.Script)) + " " + w.option + "\" in " + filepath.Dir(w.Script) +
			", or set allow_download = true in [toolchain] of bento.toml",
	}
}

// Command returns the shell command that starts the script from dir.
func (w *Wrapper) Command(dir string) string {
	rel, err := filepath.Rel(dir, w.Script)
	if err != nil {
		rel = w.Script
	}
	rel = filepath.ToSlash(rel)
	if !strings.HasPrefix(rel, "../") {
		rel = "./" + rel
	}
	if fi, err := os.Stat(w.Script); err == nil && fi.Mode()&0o111 == 0 {
		return "sh " + adapters.Quote(rel) // committed without the executable bit
	}
	return adapters.Quote(rel)
}

// Scope returns the install of a project: only a wrapper that has to fetch its tool needs
// one. w may be nil.
func (w *Wrapper) Scope(f *snapshot.Files) adapters.Scope {
	if w == nil || w.There {
		return adapters.Scope{Dir: f.Dir(), Nothing: true, Reads: f.Reads()}
	}
	dir := filepath.Dir(w.Script)
	return adapters.Scope{
		Dir: dir, Command: w.Command(dir) + " " + w.option, Reads: f.Reads(), Files: []string{w.Script, w.settings},
	}
}

// Fetch runs the wrapper, which fetches its tool.
func (w *Wrapper) Fetch(ctx context.Context, leave adapters.Leave, env adapters.Environ, log adapters.LogFunc) error {
	dir := filepath.Dir(w.Script)
	command := w.Command(dir) + " " + w.option
	return probe.Run(ctx, leave, probe.Work{Argv: []string{"/bin/sh", "-c", command}, Dir: dir, Env: env, Shown: command}, log)
}
