package ruby

import (
	"slices"
	"strings"
	"unicode"

	"github.com/bentobuild/bento/adapters"
)

// starter returns the smallest gem that builds, tests and lints. name is that of the
// dish: [A-Za-z0-9][A-Za-z0-9._-]*.
func starter(name string) []adapters.ScaffoldFile {
	gem := strings.ToLower(strings.Trim(name, "._-"))
	file := strings.Map(func(r rune) rune {
		if r == '-' || r == '.' {
			return '_'
		}
		return r
	}, gem)
	if slices.Contains(strings.Fields(taken), file) {
		file = "app_" + file
	}
	module := moduleName(file)
	fill := strings.NewReplacer("{{gem}}", gem, "{{file}}", file, "{{module}}", module)
	var files []adapters.ScaffoldFile
	for _, f := range starterFiles {
		files = append(files, adapters.ScaffoldFile{Path: fill.Replace(f.path), Data: []byte(fill.Replace(f.text))})
	}
	return files
}

// starterFiles are the files of a new gem. Names in double braces are replaced.
var starterFiles = []struct{ path, text string }{
	{"Gemfile", `# frozen_string_literal: true

source Gem.sources.first.uri.to_s

gemspec

gem "minitest"
gem "rake"
gem "rubocop", require: false
`},
	{"{{gem}}.gemspec", `# frozen_string_literal: true

Gem::Specification.new do |spec|
  spec.name = "{{gem}}"
  spec.version = "0.1.0"
  spec.summary = "{{module}}"
  spec.authors = ["{{module}} authors"]
  spec.required_ruby_version = ">= 2.7"
  spec.files = Dir["lib/**/*.rb"]
end
`},
	{"Rakefile", `# frozen_string_literal: true

require "rake/testtask"

Rake::TestTask.new(:test) do |t|
  t.libs << "test"
  t.test_files = FileList["test/**/*_test.rb"]
end

task default: :test
`},
	{"lib/{{file}}.rb", `# frozen_string_literal: true

# {{module}} greets.
module {{module}}
  def self.greet(name)
    "Hello, #{name}!"
  end
end
`},
	{"test/{{file}}_test.rb", `# frozen_string_literal: true

require "minitest/autorun"
require "{{file}}"

class {{module}}Test < Minitest::Test
  def test_greet
    assert_equal "Hello, world!", {{module}}.greet("world")
  end
end
`},
	{".rubocop.yml", `AllCops:
  NewCops: enable
  SuggestExtensions: false
  Exclude:
    - "vendor/**/*"

Gemspec/RequireMFA:
  Enabled: false

Naming/FileName:
  Enabled: false

Style/Documentation:
  Exclude:
    - "test/**/*"

Style/StringLiterals:
  EnforcedStyle: double_quotes
`},
}

// moduleName returns "ExampleLib" for "example_lib".
func moduleName(file string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(file, "_") {
		if part != "" {
			b.WriteString(string(unicode.ToUpper(rune(part[0]))) + part[1:])
		}
	}
	name := b.String()
	if name == "" || name[0] <= '9' {
		return "App" + name
	}
	return name
}

// taken are files and modules of the language and its tools that Ruby would find first.
const taken = `abbrev app array base64 basic_object benchmark bigdecimal binding bundler class comparable complex coverage csv data
date delegate digest dir drb encoding enumerable enumerator erb errno etc exception fiber fiddle file find forwardable gem
getoptlong hash integer io ipaddr irb json kernel logger marshal math matrix method minitest module monitor mutex net numeric
object observer open3 openssl optparse ostruct pathname pp prime proc process pstore psych queue racc rake random range
rational rdoc readline regexp reline resolv rexml rinda ripper rubocop rubygems securerandom set shellwords signal singleton
socket stringio string strscan struct symbol syslog tempfile test thread time timeout tmpdir tracer tsort un uri warning
weakref webrick yaml zlib`
