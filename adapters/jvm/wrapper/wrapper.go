// Package wrapper knows the scripts by which projects bring their own Maven
// (https://maven.apache.org/wrapper) or Gradle
// (https://docs.gradle.org/current/userguide/gradle_wrapper.html).
package wrapper

import (
	"context"
	"crypto/md5"
	"math/big"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/jvm/jdk"
	"github.com/bentobuild/bento/adapters/jvm/properties"
	"github.com/bentobuild/bento/internal/pattern"
	"github.com/bentobuild/bento/internal/probe"
)

// Wrapper is a script of the project that starts a certain version of the tool,
// and fetches it first where it is not there.
type Wrapper struct {
	Script string // absolute
	// Version is what it starts, "" when that cannot be told.
	Version string
	// Text decides which distribution it is, "" when that cannot be told.
	Text string
	// There says that it needs to fetch nothing.
	There bool

	tool, option string // "Maven", "-v"
	settings     string // the file that says which version, "" for none
}

var distribution = pattern.New(`^(?:apache-maven|gradle)-(\d[\w.+-]*?)(?:-(?:bin|all|src))?\.(?:zip|tar\.gz)$`)

// describe takes over what the properties of a wrapper say.
func (w *Wrapper) describe(said map[string]properties.Entry) (url string) {
	url = said["distributionUrl"].Value
	w.Text = strings.TrimSpace(url + " " + said["distributionSha256Sum"].Value)
	if m := distribution.FindStringSubmatch(path.Base(url)); m != nil {
		w.Version = m[1]
	}
	return url
}

// Maven gives the nearest ./mvnw at or above f's directory, nil when there is none.
func Maven(f *adapters.Files, env adapters.Environ) (*Wrapper, error) {
	script, ok := f.Up("mvnw")
	if !ok {
		return nil, nil
	}
	w := &Wrapper{Script: script, There: true, tool: "Maven", option: "-v"}
	dir := filepath.Join(filepath.Dir(script), ".mvn", "wrapper")
	w.settings = filepath.Join(dir, "maven-wrapper.properties")
	data, err := f.ReadIfExists(w.settings)
	if data == nil || err != nil {
		return w, err // a script of its own kind
	}
	said := properties.Parse(data)
	if w.describe(said); w.Version == "" {
		return w, nil
	}
	w.There = mavenIsThere(f, env, w.Version)
	if said["distributionType"].Value != "only-script" && !f.IsFile(filepath.Join(dir, "maven-wrapper.jar")) {
		// The scripts that need the jar fetch it too.
		text, err := f.Read(script)
		w.There = w.There && err == nil && !strings.Contains(string(text), "maven-wrapper.jar")
	}
	return w, nil
}

// mavenIsThere looks where the kinds of scripts unpack a version: those that are only
// a script go by HOME, those that are Java by the account.
func mavenIsThere(f *adapters.Files, env adapters.Environ, version string) bool {
	homes := []string{env.Get("MAVEN_USER_HOME")}
	if homes[0] == "" {
		homes = []string{filepath.Join(env.Get("HOME"), ".m2"), filepath.Join(jdk.UserHome(env), ".m2")}
	}
	for _, home := range homes {
		dists := f.Path(filepath.Join(home, "wrapper", "dists"))
		for _, below := range []string{filepath.Join("*", "bin", "mvn"), filepath.Join("*", "apache-maven-"+version, "bin", "mvn")} {
			if found, _ := filepath.Glob(filepath.Join(dists, "apache-maven-"+version+"*", below)); len(found) > 0 {
				return true
			}
		}
	}
	return false
}

// Gradle gives the nearest ./gradlew at or above f's directory, nil when there is
// none. Without its jar, which archives of sources leave out, the script does
// nothing: then there is only the version that it is for, as a pin.
func Gradle(f *adapters.Files, env adapters.Environ) (w *Wrapper, pin *adapters.Toolchain, err error) {
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
	said := properties.Parse(data)
	url := w.describe(said)
	if !f.IsFile(filepath.Join(dir, "gradle-wrapper.jar")) {
		if text, err := f.Read(script); err == nil && strings.Contains(string(text), "gradle-wrapper.jar") {
			if w.Version != "" {
				pin = &adapters.Toolchain{Tool: "gradle", Version: w.Version, File: w.settings, Line: said["distributionUrl"].Line}
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

// GradleHome is where Gradle keeps what it has fetched, and the user's settings.
func GradleHome(env adapters.Environ) string {
	if home := env.Get("GRADLE_USER_HOME"); home != "" {
		return home
	}
	return filepath.Join(jdk.UserHome(env), ".gradle")
}

// urlHash names the directory of a distribution as the wrapper does.
func urlHash(url string) string {
	sum := md5.Sum([]byte(url))
	return new(big.Int).SetBytes(sum[:]).Text(36)
}

// Missing is the error of a wrapper that would have to fetch its tool and may not.
func (w *Wrapper) Missing() error {
	return &adapters.MissingTool{
		Tool: w.tool + " " + w.Version,
		Hint: filepath.Base(w.Script) + " would fetch it: run \"" + w.Command(filepath.Dir(w.Script)) + " " + w.option + "\" in " + filepath.Dir(w.Script) +
			", or set allow_download = true in [toolchain] of bento.toml",
	}
}

// Command gives the shell command that starts the script from dir.
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
		return "sh " + Quote(rel) // committed without its mode
	}
	return Quote(rel)
}

// Quote makes one word for the shell.
func Quote(word string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-.:/@+,=%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Scope is the install of a project: only a wrapper that has to fetch its tool is
// brought in before a build. w may be nil.
func (w *Wrapper) Scope(f *adapters.Files) adapters.Scope {
	if w == nil || w.There {
		return adapters.Scope{Dir: f.Dir(), Nothing: true, Reads: f.Reads()}
	}
	dir := filepath.Dir(w.Script)
	return adapters.Scope{
		Dir: dir, Command: w.Command(dir) + " " + w.option, Reads: f.Reads(), Files: []string{w.Script, w.settings},
	}
}

// Fetch lets the wrapper bring in its tool.
func (w *Wrapper) Fetch(ctx context.Context, leave adapters.Leave, env adapters.Environ, log adapters.LogFunc) error {
	dir := filepath.Dir(w.Script)
	command := w.Command(dir) + " " + w.option
	return probe.Run(ctx, leave, probe.Work{Argv: []string{"/bin/sh", "-c", command}, Dir: dir, Env: env, Said: command}, log)
}
