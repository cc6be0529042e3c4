package environment

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// ScaffoldFiles returns the smallest project that builds, tests and lints. name is that of the
// dish: [A-Za-z0-9][A-Za-z0-9._-]*. more is appended to the manifest.
func ScaffoldFiles(name, more string) []adapters.ScaffoldFile {
	module := moduleName(name)
	return []adapters.ScaffoldFile{
		{Path: "pyproject.toml", Data: []byte(`[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "` + strings.Trim(name, "._-") + `"
version = "0.1.0"
requires-python = ">=3.9"
dependencies = []

[dependency-groups]
dev = ["pytest>=8", "ruff>=0.9"]

[tool.hatch.build.targets.wheel]
packages = ["src/` + module + `"]
` + more)},
		{Path: "src/" + module + "/__init__.py", Data: []byte(`def greet(name):
    return f"Hello, {name}!"
`)},
		{Path: "tests/test_" + module + ".py", Data: []byte(`from ` + module + ` import greet


def test_greet():
    assert greet("world") == "Hello, world!"
`)},
		{Path: ".gitignore", Data: []byte(".venv/\ndist/\n__pycache__/\n.pytest_cache/\n.ruff_cache/\n")},
	}
}

// moduleName returns a module name that Python imports from the project only.
func moduleName(name string) string {
	module := strings.Map(func(r rune) rune {
		if r == '-' || r == '.' {
			return '_'
		}
		return r
	}, strings.ToLower(name))
	module = strings.Trim(module, "_")
	if module == "" || module[0] <= '9' || slices.Contains(strings.Fields(taken), module) {
		return "app_" + module
	}
	return module
}

// taken are keywords, and modules of the standard library that Python would find first.
const taken = `and as assert async await break class continue def del elif else except false finally for from global if
import in is lambda none nonlocal not or pass raise return true try while with yield match case type
abc ast asyncio base64 builtins calendar cmd code codecs collections config contextlib copy csv ctypes dataclasses
datetime decimal difflib dis email encodings enum errno fileinput fnmatch fractions ftplib functools gc getopt glob
graphlib gzip hashlib heapq hmac html http idlelib imaplib importlib inspect io ipaddress itertools json keyword
locale logging mailbox math mimetypes mmap numbers opcode operator os pathlib pickle pip pkgutil platform plistlib
poplib posix pprint profile pty pwd pydoc pytest queue random re readline reprlib resource runpy sched secrets
select setuptools shelve shlex shutil signal site smtplib socket sqlite3 ssl stat statistics string struct
subprocess symtable sys sysconfig syslog tarfile tempfile termios test tests textwrap this threading time timeit
token tokenize tomllib trace traceback tracemalloc tty turtle types typing unittest urllib uuid venv warnings wave
weakref webbrowser wsgiref xml xmlrpc zipapp zipfile zipimport zlib zoneinfo`
