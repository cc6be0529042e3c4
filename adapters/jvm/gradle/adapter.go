// Package gradle is the adapter "gradle": builds of Gradle, of one project and of many, in
// Groovy and in Kotlin.
//
// It reads scripts and never runs them, so that a plan starts no process. Where a script
// computes a value, bento assumes every possible one, and a warning says so.
package gradle

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/jvm"
	"github.com/bentobuild/bento/adapters/jvm/script"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
)

// identity is an ingredient of every key. It changes when a change to a recipe or a reader
// of scripts changes what a task does.
const identity = "builtin:2"

// Adapter is the adapter "gradle".
type Adapter struct {
	snapshot.Source
	adapters.NoParser
	probe.Versions
	host     jvm.Host
	download bool
	manifest *adapters.Manifest
	settings *snapshot.Parsed[*script.Settings]
	builds   *snapshot.Parsed[*script.Build]
	catalogs *snapshot.Parsed[*script.Catalog]
	projects snapshot.Memo[*project]
	seen     snapshot.Machine[seen]
}

// markers are the files that make a directory a project.
func markers() []string {
	return []string{"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"}
}

// New returns the adapter.
func New(o snapshot.Options) *Adapter {
	hook := adapters.Hook{Parser: "gradle"}
	m := &adapters.Manifest{
		ProtocolVersion: adapters.ProtocolVersion,
		AdapterID:       "gradle",
		DisplayName:     "gradle",
		Runtime:         "java",
		Projects:        markers(),
		Inside:          insideRule,
		FingerprintFiles: append(markers(), "*.gradle", "*.gradle.kts", "gradle.properties", "gradle.lockfile", "gradle/**", "gradlew",
			".java-version", ".sdkmanrc", ".tool-versions"),
		Writes:          []string{"*.lockfile", "gradle/dependency-locks/*", "gradle/verification-metadata.xml"},
		DefaultTasks:    lifecycle("gradle"+options, ":", ""),
		Capabilities:    adapters.BuiltinCapabilities(),
		DiagnosticHooks: map[string]adapters.Hook{"build": hook, "lint": hook, "test": hook},
		StopsAtBuild:    true,
		EmbedsIn:        []string{"build.gradle", "build.gradle.kts"},
		DerivedPaths:    []string{".gradle/**", ".kotlin/**", "build/**"},
		Finder:          &adapters.Finder{Programs: []string{"gradle", "gradlew"}, Classes: []string{"org.gradle.launcher.daemon.bootstrap.GradleDaemon"}},
		Parallel:        8,
		Identity:        identity,
		Group:           "jvm",
		PassEnv:         jvm.PassEnv(),
		SteeringEnv:     append(jvm.SteeringEnv(), "GRADLE_OPTS", "ORG_GRADLE_PROJECT_*"),
	}
	a := &Adapter{
		Source:   o.Source(),
		download: o.AllowDownload, manifest: m,
		settings: snapshot.NewParsed(script.ParseSettings),
		builds:   snapshot.NewParsed(script.ParseBuild),
		catalogs: snapshot.NewParsed(script.ParseCatalog),
	}
	a.host.Use(o.Source(), o.Env.Strict(append(jvm.PassEnv(), m.SteeringEnv...)...))
	a.Versions = a.asked
	return a
}

// Manifest implements adapters.Adapter.
func (a *Adapter) Manifest() *adapters.Manifest { return a.manifest }

// Detect implements adapters.Adapter.
func (a *Adapter) Detect(_ context.Context, dir string) (bool, error) {
	f := a.Files(dir)
	for _, name := range markers() {
		if f.IsFile(name) {
			return true, nil
		}
	}
	// Some builds name each script after its project.
	name := filepath.Base(dir) + ".gradle"
	if !f.IsFile(name) && !f.IsFile(name+".kts") {
		return false, nil
	}
	p := &project{path: ":", dir: dir}
	err := a.place(f, p)
	return p.settings != nil, err
}

// Add implements adapters.Adder. Gradle has no command for it: the error shows the line to
// add to the script.
func (a *Adapter) Add(_ context.Context, req adapters.AddRequest, _ adapters.LogFunc) error {
	configuration := "implementation"
	if req.Dev {
		configuration = "testImplementation"
	}
	f := a.Now().Files(req.DishDir)
	name, open, end := "build.gradle", " '", "'"
	if f.IsFile("build.gradle.kts") {
		name, open, end = "build.gradle.kts", `("`, `")`
	}
	var b strings.Builder
	b.WriteString("write into dependencies of " + name + ":")
	for _, p := range req.Packages {
		b.WriteString("\n  " + configuration + open + p + end)
	}
	return &adapters.Unsupported{Adapter: "gradle", What: "adding packages", Hint: b.String()}
}
