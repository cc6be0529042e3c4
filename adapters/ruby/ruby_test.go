package ruby

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func newRuby(set ...string) *Adapter { return New(snapshot.Options{Env: adaptertest.Env(set...)}) }

// shop is a Gemfile with gems on disk of all kinds.
const shop = `
-- Gemfile --
ruby "~> 3.0"
gem "lib", path: "lib"
gem "app", path: "app"
gem "deep", path: "components"
gem "own", path: "own", group: :test
gem "away", path: "../away"
path "engines" do
  gem "one"
end
gem "rspec"
gem "rake"
eval_gemfile "more.rb"
-- more.rb --
gem "rubocop-performance"
-- .rubocop.yml --
-- .bundle/config --
---
BUNDLE_PATH: "vendor/bundle"
BUNDLE_WITHOUT: "production"
-- lib/lib.gemspec --
Gem::Specification.new { |s| s.name = "lib" }
-- lib/spec/lib_spec.rb --
-- app/app.gemspec --
Gem::Specification.new do |s|
  s.name = "app"
  s.add_dependency "lib"
  s.add_dependency "elsewhere"
  s.add_development_dependency "one"
end
-- app/second.gemspec --
Gem::Specification.new { |s| s.add_dependency "lib" }
-- app/test/app_test.rb --
-- app/Rakefile --
require "rake/testtask"
Rake::TestTask.new
task "do it"
task :"-x"
-- components/a/deep/deep.gemspec --
-- engines/one/one.gemspec --
-- own/own.gemspec --
-- own/Gemfile --
gemspec
gem "lib", path: "../lib"
-- other/other.gemspec --
-- none/readme --
-- gems/gems.rb --
gem "minitest"
-- gems/test/a.rb --
-- broken/Gemfile --
gem "x
-- below/Gemfile --
-- below/sub/sub.gemspec --
`

func TestDetect(t *testing.T) {
	root, a := adaptertest.Project(t, shop), newRuby()
	for dir, want := range map[string]bool{
		".": true, "lib": true, "app": true, "components": false, "components/a/deep": true, "engines/one": true, "own": true,
		"other": true, "none": false, "gems": true, "broken": true, "below": true, "below/sub": true,
	} {
		if got, err := a.Detect(t.Context(), filepath.Join(root, dir)); got != want || err != nil {
			t.Errorf("%s: %v, %v; want %v", dir, got, err, want)
		}
	}
}

// A gem without a Gemfile is built by gem and tested by the rake that Ruby brings.
func TestGemOnItsOwn(t *testing.T) {
	spec := "-- x/x.gemspec --\nGem::Specification.new do |s|\n  s.name = \"x\"\n  s.add_development_dependency \"minitest\"\nend\n-- x/test/x_test.rb --\n"
	build := "mkdir -p pkg && gem build x.gemspec --output pkg/x.gem"
	for name, tt := range map[string]struct {
		files string
		want  map[string]string
	}{
		"rake":     {"-- x/Rakefile --\nRake::TestTask.new\ntask :docs\n", map[string]string{"build": build, "test": "rake test", "docs": "(rake docs)"}},
		"declared": {"-- x/Rakefile --\nRake::TestTask.new(\"units\")\n", map[string]string{"build": build, "test": plainTests, "units": "(rake units)"}},
		"neither":  {"", map[string]string{"build": build, "test": plainTests}},
		"below":    {"-- x/Rakefile --\nRake::TestTask.new\n-- Gemfile --\n", map[string]string{"build": build, "test": "rake test"}},
	} {
		root, a := adaptertest.Project(t, spec+tt.files), newRuby()
		dir := filepath.Join(root, "x")
		if got, err := a.Detect(t.Context(), dir); got != (tt.want != nil) || err != nil {
			t.Errorf("%s: detected %v, %v", name, got, err)
		}
		if tt.want == nil {
			continue
		}
		if diff := cmp.Diff(tt.want, adaptertest.Runs(t, a, dir)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if s, err := a.InstallScope(t.Context(), dir); err != nil || !s.Nothing {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

func TestMembers(t *testing.T) {
	root, a := adaptertest.Project(t, shop), newRuby()
	ans := adaptertest.Tasks(t, a, root)
	var members []string
	for _, dir := range ans.Members {
		members = append(members, adaptertest.Relative(root, dir))
	}
	if diff := cmp.Diff([]string{"app", "components/a/deep", "engines/one", "lib", "own"}, members); diff != "" {
		t.Error(diff)
	}
	if !ans.Aggregate || len(ans.Tasks) > 0 {
		t.Errorf("%+v", ans)
	}
	adaptertest.Write(t, filepath.Join(root, "app.rb"), "")
	adaptertest.Write(t, filepath.Join(root, "config.ru"), "")
	if ans := adaptertest.Tasks(t, a, root); ans.Aggregate || len(ans.Tasks) != 2 {
		t.Errorf("an application with gems on disk: %+v", ans.Tasks)
	}
}

// The directive gemspec takes the gems below that its gem depends on from disk, too.
func TestGemsBelowAGemspec(t *testing.T) {
	root, a := adaptertest.Project(t, `
-- Gemfile --
gemspec
gem "rake"
-- Gemfile.lock --
GEM
  specs:
    rake (13)
-- all.gemspec --
Gem::Specification.new do |s|
  s.add_dependency "one", "1"
  s.add_dependency "far", "1"
  s.add_development_dependency "lint"
end
-- one/one.gemspec --
Gem::Specification.new do |s|
  s.add_dependency "two"
  s.add_development_dependency "three"
end
-- one/Rakefile --
task :test
-- one/test/one_test.rb --
-- two/two.gemspec --
-- three/three.gemspec --
-- lint/lint.gemspec --
-- deep/far/far.gemspec --
`), newRuby()
	var members []string
	for _, dir := range adaptertest.Tasks(t, a, root).Members {
		members = append(members, adaptertest.Relative(root, dir))
	}
	if diff := cmp.Diff([]string{"lint", "one", "two"}, members); diff != "" {
		t.Error(diff)
	}
	if test := adaptertest.Task(t, a, filepath.Join(root, "one"), "test"); test.Run != "bundle exec rake test" {
		t.Errorf("one: %+v", test)
	}
	want := []adapters.Link{{Dir: "two", File: "one/one.gemspec", Line: 2}}
	if diff := cmp.Diff(want, adaptertest.Links(t, a, root, filepath.Join(root, "one"))); diff != "" {
		t.Error(diff)
	}
	want = []adapters.Link{{Dir: "one", File: "all.gemspec", Line: 2}, {Dir: "lint", File: "all.gemspec", Line: 4, Dev: true, Private: true}, {Dir: "two", File: "one/one.gemspec", Line: 2}}
	if diff := cmp.Diff(want, adaptertest.Links(t, a, root, root)); diff != "" {
		t.Error(diff)
	}
	if s, err := a.InstallScope(t.Context(), filepath.Join(root, "one")); err != nil || s.Dir != root {
		t.Errorf("install of one: %+v, %v", s, err)
	}
}

func TestTasks(t *testing.T) {
	root, a := adaptertest.Project(t, shop), newRuby()
	for dir, want := range map[string]map[string]string{
		"lib": {
			"build": "mkdir -p pkg && gem build lib.gemspec --output pkg/lib.gem",
			"test":  "bundle exec rspec", "lint": "bundle exec rubocop", "format": "(bundle exec rubocop --autocorrect)",
		},
		"app": {
			"build": "mkdir -p pkg && gem build app.gemspec --output pkg/app.gem && gem build second.gemspec --output pkg/second.gem",
			"test":  "bundle exec rake test", "lint": "bundle exec rubocop", "format": "(bundle exec rubocop --autocorrect)",
			"do it": "(bundle exec rake 'do it')",
		},
		"own":  {"build": "mkdir -p pkg && gem build own.gemspec --output pkg/own.gem"},
		"gems": {"test": "bundle exec " + plainTests},
	} {
		if diff := cmp.Diff(want, adaptertest.Runs(t, a, filepath.Join(root, dir))); diff != "" {
			t.Errorf("%s: %s", dir, diff)
		}
	}
	in := func(names ...string) []string {
		var paths []string
		for _, name := range names {
			paths = append(paths, filepath.Join(root, name))
		}
		return paths
	}
	// Without a lockfile a task is as it will be when the install has written one.
	test := adaptertest.Task(t, a, filepath.Join(root, "lib"), "test")
	if diff := cmp.Diff(map[string]string{"BUNDLE_GEMFILE": "../Gemfile", "BUNDLE_FROZEN": "true"}, test.Env); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(in(".bundle/config", "Gemfile", "Gemfile.lock", "more.rb"), test.ExtraInputs); diff != "" {
		t.Error(diff)
	}
	lint := adaptertest.Task(t, a, filepath.Join(root, "lib"), "lint")
	if diff := cmp.Diff(in(".bundle/config", ".rubocop.yml", "Gemfile", "Gemfile.lock", "more.rb"), lint.ExtraInputs); diff != "" {
		t.Error(diff)
	}
	adaptertest.Write(t, filepath.Join(root, "empty/Gemfile"), "source \"https://example.org\"\n")
	adaptertest.Write(t, filepath.Join(root, "empty/x.gemspec"), "")
	if env := adaptertest.Task(t, a, filepath.Join(root, "empty"), "build").Env; env["BUNDLE_FROZEN"] != "" {
		t.Errorf("no install writes a lockfile: %v", env)
	}
	adaptertest.Write(t, filepath.Join(root, "Gemfile.lock"), "GEM\n  specs:\n    rspec-core (3)\n    standard (1)\n")
	test = adaptertest.Task(t, a, filepath.Join(root, "lib"), "test")
	if test.Env["BUNDLE_FROZEN"] != "true" || !slices.Contains(test.ExtraInputs, filepath.Join(root, "Gemfile.lock")) {
		t.Errorf("%+v", test)
	}
	// The lockfile wins over the Gemfile.
	want := map[string]string{
		"build": "mkdir -p pkg && gem build app.gemspec --output pkg/app.gem && gem build second.gemspec --output pkg/second.gem",
		"lint":  "bundle exec standardrb --no-fix", "format": "(bundle exec standardrb --fix)",
	}
	if diff := cmp.Diff(want, adaptertest.Runs(t, a, filepath.Join(root, "app"))); diff != "" {
		t.Error(diff)
	}
}

func TestWarnings(t *testing.T) {
	root, a := adaptertest.Project(t, "-- Gemfile --\ngem \"x\", path: ENV[\"X\"]\n"), newRuby()
	ans := adaptertest.Tasks(t, a, root)
	if len(ans.Warnings) != 1 || ans.Warnings[0].Line != 1 || ans.Warnings[0].Rule != RuleUnsure || ans.Warnings[0].Hint == "" {
		t.Errorf("%+v", ans.Warnings)
	}
	adaptertest.Write(t, filepath.Join(root, "Gemfile.lock"), "PATH\n  remote: sub\n  specs:\n    x (1)\n")
	adaptertest.Write(t, filepath.Join(root, "sub/x.gemspec"), "")
	ans = adaptertest.Tasks(t, a, root)
	if len(ans.Warnings) != 0 || !slices.Equal(ans.Members, []string{filepath.Join(root, "sub")}) {
		t.Errorf("%+v", ans)
	}
	want := []adapters.Link{{Dir: "sub", File: "Gemfile.lock", Line: 4}}
	if diff := cmp.Diff(want, adaptertest.Links(t, a, root, root)); diff != "" {
		t.Error(diff)
	}
}

func TestLinks(t *testing.T) {
	root, a := adaptertest.Project(t, shop), newRuby()
	for dir, want := range map[string][]adapters.Link{
		".": {
			{Dir: "lib", File: "Gemfile", Line: 2}, {Dir: "app", File: "Gemfile", Line: 3}, {Dir: "components/a/deep", File: "Gemfile", Line: 4},
			{Dir: "own", File: "Gemfile", Line: 5, Dev: true, Private: true}, {Dir: "../away", File: "Gemfile", Line: 6}, {Dir: "engines/one", File: "Gemfile", Line: 8},
		},
		"app": {{Dir: "lib", File: "app/app.gemspec", Line: 3}, {Dir: "engines/one", File: "app/app.gemspec", Line: 5, Dev: true, Private: true}},
		"own": {{Dir: "lib", File: "own/Gemfile", Line: 2}},
		"lib": nil,
	} {
		got := adaptertest.Links(t, a, root, filepath.Join(root, dir))
		for i := range got {
			if filepath.IsAbs(got[i].Dir) {
				got[i].Dir, _ = filepath.Rel(root, got[i].Dir)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", dir, diff)
		}
	}
}

func TestInstallScope(t *testing.T) {
	root, a := adaptertest.Project(t, shop), newRuby()
	var scopes []adapters.Scope
	for _, dir := range []string{".", "lib", "app"} {
		s, err := a.InstallScope(t.Context(), filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		if s.Reads[filepath.Join(root, "more.rb")].Kind == adapters.Unseen || s.Reads[filepath.Join(root, "app")].Kind == adapters.Unseen {
			t.Errorf("%s: reads %q", dir, s.Reads)
		}
		s.Reads = nil
		scopes = append(scopes, s)
	}
	for _, s := range scopes[1:] {
		if diff := cmp.Diff(scopes[0], s); diff != "" {
			t.Error(diff)
		}
	}
	var files []string
	for _, path := range scopes[0].Files {
		files = append(files, adaptertest.Relative(root, path))
	}
	want := ".bundle/config .ruby-version Gemfile Gemfile.lock app/app.gemspec app/second.gemspec components/a/deep/deep.gemspec" +
		" engines/one/one.gemspec lib/lib.gemspec more.rb own/own.gemspec"
	if got := strings.Join(files, " "); got != want {
		t.Errorf("files %s\nwant  %s", got, want)
	}
	if s := scopes[0]; s.Command != "bundle install" || s.Nothing || !slices.Equal(s.Made, []string{"vendor/bundle"}) {
		t.Errorf("%+v", s)
	}
	adaptertest.Write(t, filepath.Join(root, "Gemfile.lock"), "")
	if s, err := a.InstallScope(t.Context(), root); err != nil || s.Command != "BUNDLE_FROZEN=true bundle install" {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := a.InstallScope(t.Context(), filepath.Join(root, "below")); err != nil || !s.Nothing || len(s.Made) > 0 {
		t.Errorf("%+v, %v", s, err)
	}
	for config, want := range map[string]string{
		"BUNDLE_PATH: /abs": "", "BUNDLE_PATH: ../x": "", "BUNDLE_DEPLOYMENT: \"true\"": "vendor/bundle", "": "", "BUNDLE_PATH: './gems/'\r\n": "gems",
	} {
		adaptertest.Write(t, filepath.Join(root, ".bundle/config"), config)
		if got := installedTo(snapshot.NewFiles(root), root); got != want {
			t.Errorf("%q: %q", config, got)
		}
	}
}

func TestLockDigest(t *testing.T) {
	root, a := adaptertest.Project(t, shop), newRuby()
	lib := filepath.Join(root, "lib")
	if got := adaptertest.Lock(t, a, root, lib); got.File != "" {
		t.Errorf("%+v", got)
	}
	const lock = "PATH\n  remote: lib\n  specs:\n    lib (1)\n      rainbow\nGEM\n  specs:\n    rainbow (1)\nDEPENDENCIES\n  lib!\n"
	adaptertest.Write(t, filepath.Join(root, "Gemfile.lock"), lock)
	before := adaptertest.Lock(t, a, root, lib)
	if before.File != "Gemfile.lock" || before.Digest == "" || before.Whole != "" {
		t.Errorf("%+v", before)
	}
	if got := adaptertest.Lock(t, a, root, root); got.Digest == "" || got.Digest == before.Digest {
		t.Errorf("%+v", got)
	}
	if got := adaptertest.Lock(t, a, root, filepath.Join(root, "app")); got.Digest != "" || got.Whole == "" {
		t.Errorf("a gem that the lockfile does not know: %+v", got)
	}
	adaptertest.Write(t, filepath.Join(root, "Gemfile.lock"), strings.Replace(lock, "rainbow (1)", "rainbow (2)", 1))
	if got := adaptertest.Lock(t, a, root, lib); got.Digest == before.Digest {
		t.Error("another gem does not count")
	}
	adaptertest.Write(t, filepath.Join(root, "Gemfile.lock"), "NEW THING\n")
	if got := adaptertest.Lock(t, a, root, lib); got.Digest != "" || got.Whole != `the section "NEW THING" of Gemfile.lock is not known` {
		t.Errorf("%+v", got)
	}
}

func TestMalformed(t *testing.T) {
	root, a := adaptertest.Project(t, shop), newRuby()
	for _, tt := range []struct{ file, text, dir, want string }{
		{"", "", "broken", "broken/Gemfile:1:5: "},
		{"lib/lib.gemspec", "s.name = 'x\n", "lib", "lib/lib.gemspec:1:10: "},
		{"gems/gems.locked", "GEM\n<<<<<<< a\n", "gems", "gems/gems.locked:2:1: merge conflict markers are left in"},
	} {
		if tt.file != "" {
			adaptertest.Write(t, filepath.Join(root, tt.file), tt.text)
		}
		_, err := adapters.Tasks(t.Context(), a, filepath.Join(root, tt.dir))
		if got := adaptertest.Where(t, root, err); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%q", got)
		}
	}
	if got := adaptertest.Runs(t, a, filepath.Join(root, "app")); got["test"] == "" {
		t.Errorf("others suffer: %q", got)
	}
}

func TestPins(t *testing.T) {
	for _, tt := range []struct {
		name, archive string
		want          *adapters.Toolchain
	}{
		{"none", "-- a/Gemfile --\n", nil},
		{"file above", "-- .ruby-version --\n\n# ours\nruby-3.1.2@shop\n-- a/Gemfile --\nruby \"3.0.0\"\n", &adapters.Toolchain{Version: "3.1.2", File: ".ruby-version", Line: 3}},
		{"system", "-- .ruby-version --\nsystem\n-- a/Gemfile --\nruby \"3.0.0\"\n", &adapters.Toolchain{Version: "3.0.0", File: "a/Gemfile", Line: 1, Strict: true}},
		{"exact", "-- a/Gemfile --\n\nruby \"3.1\"\n", &adapters.Toolchain{Version: "= 3.1", File: "a/Gemfile", Line: 2, Strict: true}},
		{"range", "-- a/Gemfile --\nruby \">= 3.0\", \"< 4\"\n", &adapters.Toolchain{Version: ">= 3.0, < 4", File: "a/Gemfile", Line: 1, Strict: true}},
		{"engine", "-- a/Gemfile --\nruby \"3.1.4\", engine: \"jruby\", engine_version: \"9.4.5.0\"\n", &adapters.Toolchain{Version: "jruby-9.4.5.0", File: "a/Gemfile", Line: 1, Strict: true}},
		{"from a file", "-- a/Gemfile --\nruby file: \"../version\"\n-- version --\n3.2.1\n", &adapters.Toolchain{Version: "3.2.1", File: "version", Line: 1, Strict: true}},
		{"tool-versions", "-- a/Gemfile --\nruby ENV[\"X\"]\n-- .tool-versions --\nruby 3.3.0\n", &adapters.Toolchain{Version: "3.3.0", File: ".tool-versions", Line: 1}},
	} {
		root := adaptertest.Project(t, tt.archive)
		got, err := newRuby().RequiredToolchain(t.Context(), filepath.Join(root, "a"))
		if err != nil {
			t.Fatal(err)
		}
		if tt.want != nil {
			tt.want.Tool, tt.want.File = "ruby", filepath.Join(root, tt.want.File)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	for archive, want := range map[string]string{
		"-- .ruby-version --\n3..1\n-- a/Gemfile --\n":    ".ruby-version:1: .ruby-version: ",
		"-- a/Gemfile --\n\nruby \"=> 3\"\n":              "a/Gemfile:2: ruby: ",
		"-- a/Gemfile --\n-- .tool-versions --\nruby 3_1": ".tool-versions:1: ",
	} {
		root := adaptertest.Project(t, archive)
		_, err := newRuby().RequiredToolchain(t.Context(), filepath.Join(root, "a"))
		if got := adaptertest.Where(t, root, err); !strings.HasPrefix(got, want) {
			t.Errorf("%q gave %q", archive, got)
		}
	}
}

func TestCheckPin(t *testing.T) {
	a := newRuby()
	const found = "ruby=3.1.2 patch=20 engine=ruby engine_version=3.1.2 abi=3.1.0 platform=x86_64-linux-gnu"
	const jruby = "ruby=3.1.4 engine=jruby engine_version=9.4.5.0"
	for _, tt := range []struct {
		want, found string
		ok          bool
	}{
		{"3.1.2", found, true}, {"3.1", found, true}, {"3", found, true}, {"3.1.2p20", found, true}, {"3.1.3", found, false}, {"3.12", found, false},
		{"= 3.1", found, false}, {"~> 3.1.0", found, true}, {">= 3.0, < 3.1", found, false}, {"", found, true},
		{"jruby-9.4", found, false}, {"jruby-9.4", jruby, true}, {"jruby-9.3", jruby, false}, {"jruby", jruby, true}, {"3.1.4", jruby, true},
		{"truffleruby+graalvm-23", found, false}, {"3.4.0-preview1", found, false}, {"x", "", true},
	} {
		v := a.CheckPin(adapters.Toolchain{Tool: "ruby", Version: tt.want}, tt.found)
		if v.OK != tt.ok || (v.Hint == "") != tt.ok {
			t.Errorf("%q with %q: %+v", tt.want, tt.found, v)
		}
	}
	v := a.CheckPin(adapters.Toolchain{Tool: "ruby", Version: "~> 3.4.0, < 4"}, found)
	if v.Found != "3.1.2" || v.Hint != `install it with a version manager, such as "rbenv install 3.4.0", or change the pin` {
		t.Errorf("%+v", v)
	}
}

func FuzzPin(f *testing.F) {
	for _, seed := range []string{"3.1.2\n", "# c\n\njruby-9.4.5.0@x", "~> 3.1, < 4", "\xef\xbb\xbfruby-3.1", "3.4.0-preview1", "3.1.2p20"} {
		f.Add([]byte(seed))
	}
	a := newRuby()
	f.Fuzz(func(t *testing.T, data []byte) {
		text := string(data)
		_, err := parseWanted(text)
		v := a.CheckPin(adapters.Toolchain{Tool: "ruby", Version: text}, "ruby=3.1.2 engine=ruby engine_version=3.1.2")
		if err != nil && v.OK {
			t.Fatalf("%q is no pin and yet satisfied", text)
		}
	})
}
