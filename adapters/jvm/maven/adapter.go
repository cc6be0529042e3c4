// Package maven is the adapter "maven": projects of Maven, alone and in reactors.
//
// It reads poms without starting Maven, so that a plan starts no process.
package maven

import (
	"context"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/jvm"
	"github.com/bentobuild/bento/adapters/jvm/pom"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
)

// identity is an ingredient of every key. It changes when a change to a recipe or a reader
// of poms changes what a task does.
const identity = "builtin:2"

// Adapter is the adapter "maven".
type Adapter struct {
	snapshot.Source
	adapters.NoParser
	probe.Versions
	host     jvm.Host
	home     string // of the user, as Java sees it
	download bool
	manifest *adapters.Manifest
	poms     *snapshot.Parsed[*pom.Model]
	chains   snapshot.Memo[pom.Chain] // by the directory of the first
	reactors snapshot.Memo[*project]  // likewise
	projects snapshot.Memo[*project]
	seen     snapshot.Machine[seen]
}

// New returns the adapter.
func New(o snapshot.Options) *Adapter {
	hook := adapters.Hook{Parser: "maven", InDish: true} // Checkstyle's paths are relative to the module
	m := &adapters.Manifest{
		ProtocolVersion: adapters.ProtocolVersion,
		AdapterID:       "maven",
		DisplayName:     "maven",
		Runtime:         "java",
		Projects:        []string{"pom.xml"},
		Inside:          insideRule,
		FingerprintFiles: []string{
			"pom.xml", "mvnw", ".mvn/**", "settings.xml", ".java-version", ".sdkmanrc", ".tool-versions",
		},
		DefaultTasks:    lifecycle("mvn", ""),
		Capabilities:    adapters.BuiltinCapabilities(),
		DiagnosticHooks: map[string]adapters.Hook{"build": hook, "lint": hook, "test": hook},
		// The shade and flatten plugins write poms beside the pom.
		StopsAtBuild: true,
		EmbedsIn:     []string{"pom.xml"},
		DerivedPaths: []string{"target/**", "dependency-reduced-pom.xml", ".flattened-pom.xml"},
		Finder:       &adapters.Finder{Programs: []string{"mvn", "mvnw", "mvnd"}, Looks: []string{"profiles.xml"}, Elsewhere: []string{"-amd", "--also-make-dependents"}},
		Parallel:     8,
		Identity:     identity,
		// The compiler plugin does not see that a module or processor on its path has changed.
		Compiled:    []string{"target/classes/**/*.class", "target/test-classes/**/*.class"},
		Group:       "jvm",
		PassEnv:     jvm.PassEnv(),
		SteeringEnv: append(jvm.SteeringEnv(), "MAVEN_OPTS", "MAVEN_ARGS", "MAVEN_CONFIG", "MAVEN_BASEDIR", "MAVEN_DEBUG_OPTS"),
	}
	a := &Adapter{Source: o.Source(), home: jvm.UserHome(o.Env), download: o.AllowDownload, manifest: m, poms: snapshot.NewParsed(pom.Parse)}
	a.host.Use(o.Source(), o.Env.Strict(append(jvm.PassEnv(), m.SteeringEnv...)...))
	a.Versions = a.asked
	return a
}

// archives is the glob of the outputs of a build.
const archives = "target/*.{jar,war,ear,rar,zip,tar.gz}"

// lifecycle returns the recipes of a project. selection are the options that select it
// within a reactor, with a blank in front.
func lifecycle(program, selection string) []adapters.Task {
	run := program + " -B -ntp" + selection + " "
	return []adapters.Task{
		{Name: "build", Run: run + "package -DskipTests", Outputs: []string{archives}},
		{Name: "test", Run: run + "test"},
	}
}

// Manifest implements adapters.Adapter.
func (a *Adapter) Manifest() *adapters.Manifest { return a.manifest }

// Detect implements adapters.Adapter.
func (a *Adapter) Detect(_ context.Context, dir string) (bool, error) {
	return a.Files(dir).IsFile("pom.xml"), nil
}

// Add implements adapters.Adder. Maven has no command for it: the error shows the element
// to add to the pom.
func (a *Adapter) Add(_ context.Context, req adapters.AddRequest, _ adapters.LogFunc) error {
	var b strings.Builder
	b.WriteString("write into <dependencies> of pom.xml:")
	for _, name := range req.Packages {
		parts := append(strings.SplitN(name, ":", 3), "…", "…")
		b.WriteString("\n  <dependency><groupId>" + parts[0] + "</groupId><artifactId>" + parts[1] + "</artifactId><version>" + parts[2] + "</version>")
		if req.Dev {
			b.WriteString("<scope>test</scope>")
		}
		b.WriteString("</dependency>")
	}
	return &adapters.Unsupported{Adapter: "maven", What: "adding packages", Hint: b.String()}
}
