package bounds

import (
	"path/filepath"
	"slices"
	"strings"
)

// options are variables with flags that make an interpreter load code. The flags have many spellings.
var options = [...]string{
	"NODE_OPTIONS", "BUN_OPTIONS", "DENO_V8_FLAGS", "RUBYOPT", "JRUBY_OPTS", "TRUFFLERUBYOPT", "PERL5OPT",
	"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "JAVA_OPTS",
	"MAVEN_OPTS", "MAVEN_ARGS", "MAVEN_CONFIG", "MAVEN_DEBUG_OPTS", "GRADLE_OPTS", "XDEBUG_MODE", "XDEBUG_CONFIG",
}

// places are variables with lists of paths where a tool finds code, or another project.
var places = [...]string{
	"NODE_PATH", "RUBYLIB", "PYTHONPATH", "PERL5LIB", "CLASSPATH", "MAVEN_BASEDIR", "BASH_ENV", "ENV",
	"COMPOSER", "COMPOSER_VENDOR_DIR", "COMPOSER_BIN_DIR", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER",
	"BUNDLE_GEMFILE", "VIRTUAL_ENV", "CONDA_PREFIX",
}

// loads reports whether a variable makes a tool load code, or use another project as its own. Such a
// variable does not decide which version answers.
func loads(name string) bool {
	return slices.Contains(options[:], name) || slices.Contains(places[:], name)
}

// kept are directories that a tool writes to. They do not change its version.
var kept = [...]string{"CARGO_HOME"}

// Neutral returns env for a question about a tool's version: without variables that make the tool
// load code, and without values in the area that do not change the answer.
func (a *Area) Neutral(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		return loads(name) || slices.Contains(kept[:], name) && a.Reached(value)
	})
}

// homes are variables with lists of paths: a tool's own code, or files that make it load more.
var homes = [...]string{
	"JAVA_HOME", "M2_HOME", "MAVEN_HOME", "GRADLE_HOME", "GRADLE_USER_HOME", "PHPRC", "PHP_INI_SCAN_DIR", "COMPOSER_HOME",
	"RUSTUP_HOME", "COREPACK_HOME", "VOLTA_HOME", "GEM_HOME", "GEM_PATH", "RUBYGEMS_GEMDEPS", "GOROOT", "GOTOOLDIR",
	"UV_PYTHON_INSTALL_DIR", "UV_CONFIG_FILE", "UV_WORKING_DIR", "UV_WORKING_DIRECTORY", "UV_DIRECTORY", "UV_PROJECT",
	"PYTHONHOME", "PYTHONSTARTUP",
}

// commands are variables with a program and its arguments. They may name a program on PATH, or be
// "off".
var commands = [...]string{"JAVACMD", "GOENV", "GOCACHEPROG", "CC", "CXX", "FC", "AR", "GCCGO", "PKG_CONFIG", "RUSTC", "RUSTUP_TOOLCHAIN", "UV_PYTHON"}

// managers are the prefixes of the variables of version managers. These choose programs, or name
// hooks and directories of programs.
var managers = [...]string{"ASDF_", "MISE_", "PYENV_", "RBENV_", "NODENV_", "GOENV_", "JENV_", "PHPENV_", "PHPBREW_", "rvm_"}

// descriptive are those managers' variables that only contain the current directory.
var descriptive = [...]string{"MISE_PROJECT_ROOT", "MISE_ORIGINAL_CWD", "MISE_CONFIG_ROOT", "MISE_TRUSTED_CONFIG_PATHS", "PYENV_VIRTUAL_ENV"}

// compilerFlags are variables with flags that `go env` passes to the compiler.
var compilerFlags = [...]string{"CGO_CFLAGS", "CGO_CPPFLAGS", "CGO_CXXFLAGS", "CGO_FFLAGS", "CGO_LDFLAGS"}

// harmless are prefixes of flags whose paths a compiler only reads.
var harmless = [...]string{"-I", "-L", "-D", "-U", "-isystem", "-iquote", "-idirafter", "-l", "-Wl,-rpath"}

// Steers returns the first variable of env that leads to code in the area, or depends on the
// directory, as "NAME is VALUE"; "" if there is none.
func (a *Area) Steers(env []string) string {
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if word := a.steers(name, value); word != "" {
			return name + " is " + word
		}
	}
	return ""
}

// steers returns the part of a variable's value that leads to code in the area.
func (a *Area) steers(name, value string) string {
	words := strings.Fields(value)
	switch {
	case slices.Contains(homes[:], name):
		words = slices.DeleteFunc(filepath.SplitList(value), func(dir string) bool { return dir == "" || !a.Reached(dir) })
		if name == "JAVA_HOME" && len(words) == 0 {
			return a.java(value)
		}
		return first(words)
	case slices.Contains(commands[:], name):
	case slices.Contains(compilerFlags[:], name):
		words = slices.DeleteFunc(words, func(w string) bool {
			return slices.ContainsFunc(harmless[:], func(flag string) bool { return strings.HasPrefix(w, flag) })
		})
	case name == "GOFLAGS":
		words = slices.DeleteFunc(words, func(w string) bool { return !startsProgram(w) })
	case slices.Contains(descriptive[:], name):
		return ""
	case slices.ContainsFunc(managers[:], func(prefix string) bool { return strings.HasPrefix(name, prefix) }):
		words = filepath.SplitList(value)
		if strings.Contains(value, ":") && !filepath.IsAbs(value) {
			words = []string{value} // an address, or a kind of version such as path:DIR
		}
	default:
		return ""
	}
	return first(slices.DeleteFunc(words, func(w string) bool { return !a.leads(w) }))
}

func first(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// java returns the java below home that leads into the area, although home does not: the start
// scripts of Maven and Gradle run it.
func (a *Area) java(home string) string {
	for _, path := range []string{"bin/java", "jre/bin/java", "jre/sh/java"} {
		if path = filepath.Join(home, path); home != "" && a.Reached(path) {
			return home + ", and " + path + " leads into the workspace"
		}
	}
	return ""
}

// startsProgram reports whether a flag of go names a program.
func startsProgram(flag string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(flag, `'"-`), "=")
	return name == "toolexec" || name == "exec" || name == "vettool"
}

// leads reports whether a word of a command line is a path into the area, or one that depends on
// the directory. The name of a program on PATH is not.
func (a *Area) leads(word string) bool {
	if address, ok := strings.CutPrefix(word, "file://"); ok {
		return a.leads(address)
	}
	slash := strings.IndexByte(word, '/')
	switch {
	case slash < 0:
		return word == "." || word == ".."
	case slash == 0:
		return a.Reached(word)
	case strings.Contains(word, "://"):
		return false
	case word[0] == '-' && (slash == 2 || strings.IndexByte("=,:", word[slash-1]) >= 0): // -B/dir, -specs=/file
		return a.Reached(word[slash:])
	}
	return true
}

// loaders are variables of the system's loader, with paths of code that every program loads.
var loaders = [...]string{
	"LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH",
	"DYLD_FRAMEWORK_PATH", "DYLD_FALLBACK_FRAMEWORK_PATH",
}

// Outside returns env for a program that must load no code of the area: it removes entries of PATH
// and of the loader's variables that lead there. An empty entry means the current directory.
func (a *Area) Outside(env []string) []string {
	var out []string
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case name == "PATH":
			out = append(out, "PATH="+strings.Join(a.Path(value), string(filepath.ListSeparator)))
		case !slices.Contains(loaders[:], name):
			out = append(out, kv)
		default:
			if paths := a.loadable(name, value); len(paths) > 0 {
				out = append(out, name+"="+strings.Join(paths, ":"))
			}
		}
	}
	return out
}

// Free returns env for a program of the user that may start an interpreter by its name, such as a
// script. It is the result of Outside without the variables that lead to code of the area. Flags that
// load code are removed in any case: most interpreters also take them relative to the current
// directory.
func (a *Area) Free(env []string) []string {
	return slices.DeleteFunc(a.Outside(env), func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case slices.Contains(options[:], name):
			return true
		case slices.Contains(places[:], name):
			return slices.ContainsFunc(filepath.SplitList(value), a.Reached)
		}
		return a.steers(name, value) != ""
	})
}

// loadable returns the part of a variable's value that the loader may use. The loader looks for a
// file without a slash in the directories.
func (a *Area) loadable(name, value string) []string {
	if strings.HasSuffix(name, "_PATH") {
		return a.Path(value)
	}
	between := func(r rune) bool { return r == ':' || r == ' ' }
	return slices.DeleteFunc(strings.FieldsFunc(value, between), a.leads)
}
