package gemfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
)

// write writes files, given as names and texts in turn, below a new directory.
func write(t testing.TB, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(root, filepath.FromSlash(files[i]))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestRead(t *testing.T) {
	root := write(t, "app/Gemfile", "\xef\xbb\xbf# frozen_string_literal: true\r\nsource \"https://index.example\"\r\n"+`git_source(:github) { |name| "https://git.example/#{name}.git" }
ruby "~> 3.1.0", ">= 3.1.2" # the one

gem "rake", "~> 13.0", require: false
gem 'lib', :path => '../lib'
gem("ui",
    ">= 1", # why
    path: "ui"
)
gem "web", github: "x/web" if ENV["WEB"]
gem "with#hash", "1"; gem 'second'.freeze
gemspec
gemspec path: "engine", name: "engine-core"

group :development, :test do
  gem "rspec"
  gem "rubocop", path: "vendor/rubocop" unless ENV.fetch("CI") { |k| "no" }
  platforms(:ruby) { gem "inner" }
end
group :production do
  gem "puma"
end
gem "minitest", group: :test
gem "both", groups: [:test, :default]
path "components" do
  gem "alpha"
  gem "beta", path: "../beta"
end
%w[one two].each do |name|
  gem name, path: "x/#{name}"
  gem "dyn", path: File.join(__dir__, name)
end
if RUBY_VERSION > "3"
  gem "new"
else
  gem "old"
end
x = if true then 1 else 2 end
text = <<~DOC
  gem "not", path: "me"
  it's
DOC
=begin
gem "nor me"
=end
install_if -> { true } do
  gem "maybe"
end
eval_gemfile "gemfiles/more.rb"
eval_gemfile Dir["x"].first
gem "last" # gem "no"
__END__
gem "data"
`, "app/gemfiles/more.rb", "gem 'more', path: '../more'\neval_gemfile '../Gemfile'\n")
	f := snapshot.NewFiles(filepath.Join(root, "app"))
	got, err := Read(f, "Gemfile")
	if err != nil {
		t.Fatal(err)
	}
	main, more := filepath.Join(root, "app/Gemfile"), filepath.Join(root, "app/gemfiles/more.rb")
	at := func(line int) Place { return Place{File: main, Line: line} }
	what := func(line int, what string) Place { return Place{File: main, Line: line, What: what} }
	in := func(name string) string { return filepath.Join(root, name) }
	want := &File{
		Path: main, Files: []string{main, more},
		Gems: []Gem{
			{Name: "rake", Place: at(6)}, {Name: "lib", Path: in("lib"), Place: at(7)}, {Name: "ui", Path: in("app/ui"), Place: at(8)},
			{Name: "web", Place: at(12)}, {Name: "with#hash", Place: at(13)}, {Name: "second", Place: at(13)},
			{Name: "rspec", Dev: true, Place: at(18)}, {Name: "rubocop", Path: in("app/vendor/rubocop"), Dev: true, Place: at(19)},
			{Name: "inner", Dev: true, Place: at(20)}, {Name: "puma", Place: at(23)},
			{Name: "minitest", Dev: true, Place: at(25)}, {Name: "both", Place: at(26)},
			{Name: "alpha", Path: in("app/components"), Place: at(28)}, {Name: "beta", Path: in("beta"), Place: at(29)},
			{Name: "dyn", Place: at(33)}, {Name: "new", Place: at(36)}, {Name: "old", Place: at(38)}, {Name: "maybe", Place: at(49)},
			{Name: "more", Path: in("more"), Place: Place{File: more, Line: 1}}, {Name: "last", Place: at(53)},
		},
		Specs: []Spec{{Dir: in("app"), Place: at(14)}, {Dir: in("app/engine"), Name: "engine-core", Place: at(15)}},
		Ruby:  &Ruby{Requirement: "~> 3.1.0, >= 3.1.2", Place: at(4)},
		Unsure: []Place{
			what(32, "the name of a gem"), what(33, `the path of the gem "dyn"`), what(52, "the file that is evaluated"),
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(f.Reads()) != 2 {
		t.Errorf("reads %q", f.Reads())
	}
}

func TestRuby(t *testing.T) {
	for text, want := range map[string]*Ruby{
		`ruby "3.1.2"`: {Requirement: "3.1.2"},
		`ruby '3.1', engine: "jruby", engine_version: "9.4"`: {Requirement: "9.4", Engine: "jruby"},
		`ruby "3.1.2", :engine => :ruby`:                     {Requirement: "3.1.2", Engine: "ruby"},
		`ruby [">= 3", "< 4"]`:                               {Requirement: ">= 3, < 4"},
		`ruby file: ".ruby-version"`:                         {From: ".ruby-version"},
		`ruby File.read(".ruby-version").strip`:              nil,
		`ruby ENV["RUBY"] || "3.1"`:                          nil,
		`ruby "#{v}"`:                                        nil,
		"gem \"x\"\nruby \"3.1.4\" if true":                  {Requirement: "3.1.4"},
		`ruby "3.1" + ".2"`:                                  nil,
		`ruby(*v)`:                                           nil,
		`ruby "3.4", engine: "truffleruby", engine_version: "24.0.#{x}"`: nil,
	} {
		root := write(t, "Gemfile", text+"\n")
		got, err := Read(snapshot.NewFiles(root), "Gemfile")
		if err != nil {
			t.Fatal(err)
		}
		if got.Ruby != nil {
			got.Ruby.Place = Place{}
			if got.Ruby.From != "" {
				got.Ruby.From = filepath.Base(got.Ruby.From)
			}
		}
		if diff := cmp.Diff(want, got.Ruby); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestGemspec(t *testing.T) {
	root := write(t, "x.gemspec", `
require_relative "lib/x/version"
Gem::Specification.new do |spec|
  spec.name        = "x-core".freeze
  spec.version = X::VERSION
  spec.files = Dir.chdir(__dir__) do
    `+"`git ls-files -z`"+`.split("\x0").reject { |f| f.match(%r{\A(?:test|spec)/}) }
  end
  spec.metadata["changelog"] = "#{spec.homepage}/x"
  spec.required_ruby_version = ">= 3.0"
  spec.add_dependency "lib", "~> 1.0"
  spec.add_runtime_dependency("ui")
  spec.add_development_dependency 'rspec', '>= 3'
  spec.add_dependency name
  if spec.respond_to? :specification_version then
    spec.add_runtime_dependency(%q<percent>.freeze, ["~> 1"])
  end
end
`, "y.gemspec", "Gem::Specification.new(\"yy\", \"1\") { |s| s.add_dependency \"z\" }\n", "z.gemspec", "Gem::Specification.new do |s|\n s.name = NAME\nend")
	want := map[string]*Gemspec{
		"x.gemspec": {Name: "x-core", Dependencies: []Gem{
			{Name: "lib", Place: Place{Line: 11}}, {Name: "ui", Place: Place{Line: 12}}, {Name: "rspec", Dev: true, Place: Place{Line: 13}},
			{Name: "percent", Place: Place{Line: 16}},
		}},
		"y.gemspec": {Name: "yy", Dependencies: []Gem{{Name: "z", Place: Place{Line: 1}}}},
		"z.gemspec": {Name: "z"},
	}
	for name, want := range want {
		want.Path = filepath.Join(root, name)
		for i := range want.Dependencies {
			want.Dependencies[i].Place.File = want.Path
		}
		got, err := ReadGemspec(snapshot.NewFiles(root), name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestRakefile(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       *Rakefile
	}{
		{"none", "", nil},
		{"Rakefile", `require "bundler/gem_tasks"
require "rake/testtask"
Rake::TestTask.new do |t|
  t.libs << "test"
end
RSpec::Core::RakeTask.new(:unit)
RuboCop::RakeTask.new
desc "Do"
task :do_it, [:a] => :test do |t, args|
  task :inner
end
task "str"
task deploy: %i[test unit]
task :old => [:a, :b]
multitask par: :a
namespace :db do
  task :migrate
end
task default: :test
if ENV["X"]
  task :sometimes
end
task name
task :do_it
`, &Rakefile{Tasks: []string{"build", "install", "release", "test", "unit", "rubocop", "do_it", "str", "deploy", "old", "par"},
			Plain: []string{"do_it", "str", "deploy", "old", "par"}}},
		{"rakefile.rb", "require_relative 'config/application'\nRails.application.load_tasks\n", &Rakefile{Loads: true}},
		{"Rakefile", "task \"", &Rakefile{}},
	} {
		root := write(t, tt.name, tt.text)
		got, err := ReadRakefile(snapshot.NewFiles(root))
		if err != nil {
			t.Fatal(err)
		}
		if tt.want != nil {
			tt.want.Path = filepath.Join(root, tt.name)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q: %s", tt.text, diff)
		}
	}
	if (*Rakefile)(nil).Has("test") {
		t.Error("no Rakefile has no tasks")
	}
}

func TestMalformed(t *testing.T) {
	for _, tt := range []struct {
		files []string
		want  string
	}{
		{[]string{"Gemfile", "gem 'a'\n\n  gem \"b\n"}, "Gemfile:3:7: a string or an expression begins here and has no end"},
		{[]string{"Gemfile", "gem %w[a\n"}, "Gemfile:1:7:"},
		{[]string{"Gemfile", "\xff\xfeg\x00e\x00"}, "Gemfile:1:1: text in UTF-16"},
		{[]string{"Gemfile", "gem 'a'\n<<<<<<< HEAD\ngem 'b'\n"}, "Gemfile:2:1: merge conflict markers are left in"},
		{[]string{"Gemfile", "\neval_gemfile 'none'\n"}, `Gemfile:2: the evaluated file "none" does not exist`},
		{[]string{"Gemfile", "eval_gemfile 'x'\n", "x", "gem 'y"}, "x:1:5:"},
	} {
		root := write(t, tt.files...)
		_, err := Read(snapshot.NewFiles(root), "Gemfile")
		var problems diagnostics.Problems
		if !errors.As(err, &problems) || !strings.HasPrefix(err.Error(), filepath.Join(root, tt.want)) {
			t.Errorf("%q gave %v", tt.files, err)
		}
	}
	// A gemspec that RubyGems has written may hold NUL bytes in its first comment.
	if _, err := tokenize("x", []byte("# stub: x 1 ruby lib\x00ext\nGem::Specification.new\n")); err != nil {
		t.Error(err)
	}
}

func FuzzCalls(f *testing.F) {
	for _, seed := range []string{
		"gem 'a', \"~> 1\", path: '../a', group: [:test]\n", "group :x do\n gem 'b'\nend\n", "x = <<~A + <<-'B'\n a\nA\n b\n  B\n",
		"%w[a b].each { |n| gem n }", "ruby file: '.ruby-version'", "a ? 'b' : \"c#{d ? \"e\" : '}'}\"\n", "task :%, a: %i[b] do end", "$' ?x /a'b/i __END__",
		"=begin\n=end\ngem(\n'x')\n.y", "if x then y end; def z = 1", "A(;", "gem(\n", "a do |x",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tokens, err := tokenize("/x", data)
		if err != nil {
			var problems diagnostics.Problems
			if !errors.As(err, &problems) || problems[0].Line < 1 || problems[0].Col < 1 {
				t.Fatal(err)
			}
			return
		}
		lines := 1 + strings.Count(string(data), "\n")
		for _, c := range calls(tokens) {
			if c.line < 1 || c.line > lines {
				t.Fatalf("line %d of %d", c.line, lines)
			}
		}
	})
}
