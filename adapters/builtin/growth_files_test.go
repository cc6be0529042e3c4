package builtin_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/adapters/deno/imports"
	"github.com/bentobuild/bento/adapters/jvm"
	"github.com/bentobuild/bento/adapters/node/modules"
	"github.com/bentobuild/bento/adapters/node/settings"
	"github.com/bentobuild/bento/adapters/node/tsconfig"
	"github.com/bentobuild/bento/adapters/python/devtool"
	pylock "github.com/bentobuild/bento/adapters/python/lockfile"
	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/adapters/python/requirements"
	"github.com/bentobuild/bento/adapters/python/uvworkspace"
	"github.com/bentobuild/bento/adapters/ruby/gemfile"
	"github.com/bentobuild/bento/adapters/ruby/report"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/growth"
)

// at reads a file of some name in a directory that has files of other names too.
func at(t *testing.T, name string, read func(f *snapshot.Files, path string) any, others ...string) func([]byte) any {
	dir := t.TempDir()
	for i := 0; i < len(others); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, others[i]), []byte(others[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	return func(data []byte) any {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return read(snapshot.NewFiles(dir), path)
	}
}

func both[T any](v T, err error) any { return []any{v, err} }

// No reader that finds its file by itself needs more than n log n for n entries of it.
func TestReadersOfFilesGrowWithTheFile(t *testing.T) {
	npm := func(f *snapshot.Files, _ string) any { return settings.ReadNPM(f, f.Dir()) }
	yarn := func(f *snapshot.Files, _ string) any { return both(settings.ReadYarn(f, f.Dir())) }
	pnpm := func(f *snapshot.Files, _ string) any { return both(settings.ReadPNPM(f, f.Dir())) }
	python := func(f *snapshot.Files, _ string) any { return both(pyproject.Read(f)) }
	tools := func(f *snapshot.Files, _ string) any {
		p, err := pyproject.Read(f)
		if err != nil {
			return err
		}
		return devtool.Find(f, p)
	}
	uv := func(f *snapshot.Files, _ string) any { return both(uvworkspace.Read(f)) }
	pip := func(f *snapshot.Files, path string) any { return both(requirements.Read(f, path)) }
	gems := func(f *snapshot.Files, path string) any { return both(gemfile.Read(f, path)) }
	gemspec := func(f *snapshot.Files, path string) any { return both(gemfile.ReadGemspec(f, path)) }
	rake := func(f *snapshot.Files, _ string) any { return both(gemfile.ReadRakefile(f)) }
	maven := func(f *snapshot.Files, _ string) any { return both(jvm.MavenWrapper(f, nil)) }
	gradle := func(f *snapshot.Files, _ string) any {
		w, pin, err := jvm.GradleWrapper(f, nil)
		return []any{w, pin, err}
	}
	versions := func(f *snapshot.Files, _ string) any { return both(f.ToolVersions("go", "golang")) }
	deno := func(f *snapshot.Files, path string) any { return imports.Of(f, path) }
	const project = "[project]\nname = \"x\"\nversion = \"1\"\n"
	growth.Check(t, map[string]growth.Reader{
		".npmrc":                  growth.Of(at(t, ".npmrc", npm), growth.List("", "key%d = value\n", "", "")),
		".yarnrc.yml":             growth.Of(at(t, ".yarnrc.yml", yarn), growth.List("plugins:\n", "  - path: p%d.cjs\n", "", "")),
		"pnpm-workspace.yaml":     growth.Of(at(t, "pnpm-workspace.yaml", pnpm), growth.List("overrides:\n", "  p%d: link:q%d\n", "", "")),
		"modules.yaml":            growth.Of(at(t, "node_modules/.modules.yaml", func(f *snapshot.Files, _ string) any { return modules.Recorded(f, f.Dir()) }), growth.List("hoistedDependencies:\n", "  p%d@1.0.0:\n    p%d: private\n", "", "")),
		"tsconfig.json":           growth.Of(at(t, "tsconfig.json", func(f *snapshot.Files, _ string) any { return tsconfig.Read(f) }), growth.List(`{"references": [`, `{"path": "../p%d"}`, ",", "]}")),
		"setup.cfg, requirements": growth.Of(at(t, "setup.cfg", python), growth.List("[options]\ninstall_requires =\n", "  p%d >= 1\n", "", "")),
		"setup.cfg, extras":       growth.Of(at(t, "setup.cfg", python), growth.List("[options.extras_require]\n", "e%d = p%d\n", "", "")),
		"setup.cfg, sections":     growth.Of(at(t, "setup.cfg", tools, "pyproject.toml", project), growth.List("", "[s%d]\nk = v\n", "", "")),
		"tox.ini":                 growth.Of(at(t, "tox.ini", tools, "pyproject.toml", project), growth.List("", "[testenv:s%d]\nk = v\n", "", "")),
		"pyproject.toml, extras":  growth.Of(at(t, "pyproject.toml", python), growth.List(project+"[project.optional-dependencies]\n", "e%d = [\"p%d\"]\n", "", "")),
		"pyproject.toml, groups":  growth.Of(at(t, "pyproject.toml", python), growth.List(project+"[dependency-groups]\ng = []\n", "g%d = [\"p%d\", {include-group = \"g\"}]\n", "", "")),
		"pyproject.toml, empty":   growth.Of(at(t, "pyproject.toml", python), growth.List(project+"[dependency-groups]\n", "g%d = []\n", "", "")),
		"pyproject.toml, sources": growth.Of(at(t, "pyproject.toml", uv), growth.List(project+"[tool.uv.sources]\n", "p%d = { path = \"../p%d\" }\n", "", "")),
		"poetry.lock":             growth.Of(growth.By(pylock.PoetryDigest), growth.List("", "[[package]]\nname = \"p%d\"\nversion = \"1\"\n", "", "[metadata]\nlock-version = \"2.0\"\n")),
		"requirements.txt":        growth.Of(at(t, "requirements.txt", pip), growth.List("", "p%d==1.0 --hash=sha256:00%d\n", "", "")),
		"requirements.txt, -r":    growth.Of(at(t, "requirements.txt", pip), growth.List("", "-r r%d.txt\n", "", "")),
		"Gemfile":                 growth.Of(at(t, "Gemfile", gems), growth.List("source 'r'\n", "gem 'g%d', '~> 1.%d', path: '../g%d'\n", "", "")),
		"Gemfile, groups":         growth.Of(at(t, "Gemfile", gems), growth.List("source 'r'\n", "group :g%d do\n  gem 'g%d'\nend\n", "", "")),
		"x.gemspec":               growth.Of(at(t, "x.gemspec", gemspec), growth.List("Gem::Specification.new do |s|\n  s.name = 'x'\n", "  s.add_dependency 'g%d', '~> 1.0'\n", "", "end\n")),
		"Rakefile":                growth.Of(at(t, "Rakefile", rake), growth.List("", "task(:t%d) {}\n", "", "")),
		"report of Ruby":          growth.Of(func(data []byte) any { return report.Parse(report.Where{Root: "/w", Dir: "/w/d"}, string(data)) }, growth.List("", "lib/x%d.rb:%d: syntax error, unexpected end\n", "", "")),
		"maven wrapper":           growth.Of(at(t, ".mvn/wrapper/maven-wrapper.properties", maven, "mvnw", ""), growth.List("distributionUrl=x\n", "key%d = value\n", "", "")),
		"gradle wrapper":          growth.Of(at(t, "gradle/wrapper/gradle-wrapper.properties", gradle, "gradlew", ""), growth.List("distributionUrl=x\n", "key%d = value\n", "", "")),
		".sdkmanrc":               growth.Of(at(t, ".sdkmanrc", func(f *snapshot.Files, _ string) any { return both(jvm.VersionFiles(f)) }), growth.List("", "tool%d=1.%d\n", "", "java=17.0.1-tem\n")),
		".tool-versions":          growth.Of(at(t, ".tool-versions", versions), growth.List("", "tool%d 1.%d\n", "", "golang 1.22.0\n")),
		"imports of Deno":         growth.Of(at(t, "x.ts", deno), growth.List("", "import m%d from \"./m%d.ts\";\n", "", "")),
	})
}
