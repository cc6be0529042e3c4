package probe

import "github.com/bentobuild/bento/internal/pattern"

// Question is one command line that commands without leave may start.
type Question int

// All questions.
const (
	GoEnv Question = iota
	RustcVersion
	CargoVersion
	PythonVersion
	PythonBase
	PoetryVersion
	UVVersion
	UVPython
	RubyVersion
	BundlerVersion
	PHPVersion
	ComposerVersion
	JavaVersion
	MavenVersion
	GradleVersion
	NodeVersion
	ManagerVersion // of npm, pnpm, yarn and bun
	DenoVersion
	questions
)

// line is the command line of a question.
type line struct {
	args []string
	// word is the pattern of a required version, which is one more argument; settings are the
	// patterns of variables.
	word     *pattern.Pattern
	settings map[string]*pattern.Pattern
	// starts are the tools that this one starts by name on PATH.
	starts []string
	// passes reports whether the tool skips virtual environments in its search.
	passes bool
}

const maxWord = 256 // bytes

var (
	channel = pattern.New(`^[A-Za-z0-9][A-Za-z0-9._+-]*$`)
	// A version of Python or a range of them, optionally with the name of an implementation.
	python = pattern.New(`^(?:(?:cpython|cp|python|pypy|pp|graalpy)[-@]?)?(?:[<>=!~]{1,3} *)?\d[A-Za-z0-9.*+]*(?:-[A-Za-z0-9_]+){0,3}(?: *, *[<>=!~]{1,3} *\d[A-Za-z0-9.*+]*)*$`)
)

// table lists every command line that commands without leave may start, all in the root of the file
// system and with the environment of Asker.environ.
func table() [questions]line {
	rust := map[string]*pattern.Pattern{"RUSTUP_TOOLCHAIN": channel}
	return [questions]line{
		GoEnv:         {args: append([]string{"env", "-json"}, goSettings[:]...)},
		RustcVersion:  {args: []string{"-vV"}, settings: rust},
		CargoVersion:  {args: []string{"-V"}, settings: rust},
		PythonVersion: {args: []string{"-I", "-c", describePython}},
		PythonBase:    {args: []string{"-I", "-c", locatePython}},
		PoetryVersion: {args: []string{"--version"}, starts: []string{"python3"}},
		UVVersion:     {args: []string{"--version"}},
		UVPython: {
			args: []string{"python", "find", "--system"}, starts: []string{"python3"}, passes: true,
			word: python, settings: map[string]*pattern.Pattern{"UV_PYTHON_PREFERENCE": channel},
		},
		RubyVersion:     {args: []string{"--disable-gems", "-e", describeRuby}},
		BundlerVersion:  {args: []string{"-e", describeBundler}},
		PHPVersion:      {args: []string{"-r", describePHP}},
		ComposerVersion: {args: []string{"--version", "--no-ansi", "--no-interaction"}, starts: []string{"php"}},
		JavaVersion:     {args: []string{"-version"}},
		MavenVersion:    {args: []string{"-v"}, starts: []string{"java"}},
		GradleVersion:   {args: []string{"--version"}, starts: []string{"java"}},
		NodeVersion:     {args: []string{"--version"}},
		ManagerVersion:  {args: []string{"--version"}, starts: []string{"node"}},
		DenoVersion:     {args: []string{"--version"}},
	}
}

// goSettings are the variables of `go env` that change what is built. The environment, the user's
// go/env file or the distribution may set them.
var goSettings = [...]string{
	"GOVERSION", "GOOS", "GOARCH", "GO386", "GOAMD64", "GOARM", "GOARM64", "GOMIPS", "GOMIPS64", "GOPPC64",
	"GORISCV64", "GOWASM", "GOFLAGS", "GOEXPERIMENT", "GOFIPS140", "GODEBUG", "GO111MODULE",
	"CGO_ENABLED", "CGO_CFLAGS", "CGO_CPPFLAGS", "CGO_CXXFLAGS", "CGO_FFLAGS", "CGO_LDFLAGS",
	"CC", "CXX", "AR", "PKG_CONFIG",
}

// Mark precedes the output of scripts in a language of its own: no warning starts with it.
const Mark = "bento "

// Python's version, implementation, ABI and platform; the interpreter itself, for a shim; and for a
// virtual environment, which may be the one to replace, the interpreter that made it.
const (
	describePython = `import platform, sys, sysconfig
print("bento", "python=" + platform.python_version(), "implementation=" + sys.implementation.name,
	"abi=" + str(sysconfig.get_config_var("SOABI") or sys.implementation.cache_tag), "platform=" + sysconfig.get_platform())`
	locatePython = `import sys
base = getattr(sys, "_base_executable", None) if sys.prefix != sys.base_prefix else None
print("bento", base or sys.executable)`
)

// Ruby's version, and the Bundler that runs.
const (
	describeRuby = `require "rbconfig"
puts "bento ruby=#{RUBY_VERSION} patch=#{RUBY_PATCHLEVEL} engine=#{RUBY_ENGINE} engine_version=#{RUBY_ENGINE_VERSION}" +
  " abi=#{RbConfig::CONFIG["ruby_version"]} platform=#{RUBY_PLATFORM}"`
	describeBundler = `require "bundler/version"
puts "bento #{Bundler::VERSION}"`
)

// PHP's version and loaded extensions, one per line.
const describePHP = `$e = get_loaded_extensions(); sort($e); ` +
	`echo "php ", PHP_VERSION, "\n", PHP_OS, " ", PHP_INT_SIZE, PHP_ZTS ? " zts" : "", PHP_DEBUG ? " debug" : "", "\n"; ` +
	`foreach ($e as $x) echo $x, " ", phpversion($x) ?: "", "\n";`
