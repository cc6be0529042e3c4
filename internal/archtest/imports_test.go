package archtest

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// row says which of our packages a package may import. Both sides may be patterns
// of path.Match; "**" on the right means all of ours.
type row struct {
	pkg   string
	allow []string
}

// table is the direction of imports. Of the rows that match a package, the one with the fewest "*" applies. Arrows only
// point down: a package imports packages of its own row and of those above. The numbers are levels: a row imports only
// rows of lower ones.
var table = []row{
	// 0
	{"internal/pattern", nil},   // regular expressions that are compiled at their first use
	{"docs", nil},               // pages as text
	{"internal/bench", nil},     // a program of its own: it measures bento from outside
	{"internal/release", nil},   // a program of its own: it builds what is published
	{"internal/killpoint", nil}, // no effect, except in tests that kill bento
	{"internal/shortened", nil}, // a program of its own: it reads tests
	{"internal/testlog", nil},   // a program of its own: it reads the output of go test
	{"internal/pack", nil},      // fields and values as bytes, for every stored format
	{"internal/dag", nil},
	{"internal/parallel", nil}, // several workers
	{"internal/proc", nil},
	{"internal/owner", nil}, // whose files are acted on
	{"internal/archtest", nil},
	{"internal/stat", nil},                // the parts of a stat that fs.FileInfo lacks
	{"internal/bounds", nil},              // which programs and values of the environment are the clone's
	{"internal/growth", nil},              // shared by tests of readers
	{"internal/sampling", nil},            // the cases that a test tries
	{"internal/tree/ignore", nil},         // only the matcher: fuzzed without a walk
	{"internal/semver", nil},              // versions and ranges of several ecosystems
	{"internal/jsontext", nil},            // the tokens of JSON
	{"internal/lockgraph", nil},           // shared by the lockfiles of all families
	{"internal/sandbox/sandboxtest", nil}, // lesser kernels, for tests
	{"plugin/signature", nil},             // inputs that both SDKs refuse
	{"plugin/ainb/bus", nil},              // only topics and inboxes
	{"plugin/wasm/wasmtest", nil},         // modules written by hand, for tests
	{"examples/tools/*", nil},             // an author of a tool has only the standard library
	{"internal/codeowners", nil},          // a text, which discovery reads
	{"internal/report/page", nil},

	// 1
	{"diagnostics", []string{"internal/pattern"}},
	{"internal/rawfile", []string{"internal/killpoint"}}, // files and directories by descriptor
	{"internal/testrun", []string{"internal/sampling"}},  // where the files of tests are, how many tests run at once, and which processes they leave
	{"internal/git", []string{"internal/bounds", "internal/proc"}},
	{"internal/sandbox", []string{"internal/proc"}},
	{"plugin/wire/shape", []string{"internal/jsontext"}}, // untrusted JSON, below the messages
	{"internal/update", []string{"internal/pattern"}},    // the released versions, on request

	// 2
	{"internal/owndir", []string{"internal/rawfile", "internal/owner"}}, // bento's own directories
	{"internal/clone", []string{"diagnostics"}},                         // the workspace's files, behind no link that leads out
	{"adapters", []string{"diagnostics"}},
	{"internal/tomlfile", []string{"diagnostics"}},
	{"internal/jsonfile", []string{"diagnostics", "internal/jsontext"}}, // JSON manifests of several families, with places
	{"diagnostics/*", []string{"diagnostics", "internal/pattern"}},      // the parsers

	// 3
	{"cache", []string{"internal/owndir", "internal/owner", "internal/pack", "internal/rawfile"}},
	{"internal/state", []string{"internal/killpoint", "internal/owner", "internal/owndir", "internal/rawfile", "internal/git", "internal/pack", "internal/stat"}}, // git tracks no file of it
	// How adapters of bento itself see a workspace: authors of others need no part of it.
	{"adapters/snapshot", []string{"adapters", "diagnostics", "internal/clone"}},
	{"internal/dish", []string{"adapters", "diagnostics"}}, // values, which config and discovery fill
	{"plugin/wire", []string{"adapters", "diagnostics", "internal/jsontext", "plugin/wire/shape"}},
	{"internal/specifier", []string{"adapters"}}, // shared by node and deno: imports of modules by their path
	// What tests of adapters share runs recipes, too.
	{"adapters/adaptertest", []string{"adapters", "diagnostics", "internal/proc", "internal/sampling"}},
	{"plugin/ainb/manifest", []string{"diagnostics", "internal/semver", "internal/tomlfile"}}, // a foreign format, with places
	{"plugin/bundle/*", []string{"diagnostics", "internal/jsonfile", "internal/pattern", "internal/semver"}},
	{"plugin/sep/manifest", []string{"diagnostics", "internal/jsonfile", "internal/pattern"}}, // a foreign format, with places

	// 4
	{"cache/cachetest", []string{"cache"}},
	{"cache/outputs", []string{"cache", "internal/rawfile"}}, // workspace and store, both ways
	{"cache/remote", []string{"cache", "diagnostics", "internal/owndir", "internal/owner", "internal/pack", "internal/rawfile"}},                   // results beyond this machine
	{"cache/remote/transport", []string{"cache/remote", "internal/proc"}},                                                                          // connections, shared by the servers; a credential helper is a process
	{"cache/remote/objects", []string{"cache/remote", "cache/remote/transport"}},                                                                   // what servers with requests for one object share
	{"cache/remote/*", []string{"cache", "cache/remote", "cache/remote/transport", "cache/remote/objects", "internal/owndir", "internal/rawfile"}}, // its servers, which only kit opens
	{"internal/browsertest", []string{"adapters/adaptertest"}},                                                                                     // a real browser, for tests
	{"cache/remote/servertest", []string{"adapters/adaptertest", "internal/proc"}},                                                                 // real servers, for tests
	{"internal/tree/*", []string{"internal/state", "internal/stat", "internal/owndir", "internal/rawfile"}},
	// The only package that starts processes for adapters: one table has all questions.
	{"internal/probe", []string{"adapters", "adapters/snapshot", "internal/bounds", "internal/stat", "internal/proc", "internal/tomlfile", "internal/pattern"}},
	{"plugin", []string{"plugin/signature", "plugin/wire", "adapters", "diagnostics"}},
	{"plugin/extension", []string{"plugin/signature", "plugin/wire"}},
	{"plugin/host", []string{"internal/owner", "plugin/wire", "plugin/wire/shape", "adapters", "diagnostics", "internal/proc", "internal/sandbox", "internal/stat", "internal/state"}},
	// Packages of tools and plugins: what they contain and where they are installed, then where they are fetched from.
	{"plugin/bundle", []string{"plugin/bundle/archive", "plugin/bundle/manifest", "plugin/bundle/seal", "diagnostics", "internal/owndir", "internal/owner", "internal/rawfile"}},

	// 5
	{"internal/tree", []string{"diagnostics", "internal/state", "internal/stat", "internal/git", "internal/pack", "internal/parallel", "internal/tree/*"}},
	// A glob that the matcher refuses is reported at its place.
	{"internal/config", []string{"adapters", "diagnostics", "internal/dish", "internal/pattern", "internal/tomlfile", "internal/state", "internal/pack", "internal/clone", "internal/tree/glob"}},
	{"adapters/*/*", []string{"adapters", "adapters/snapshot", "adapters/*/*", "diagnostics", "internal/probe", "internal/tomlfile", "internal/jsonfile", "internal/lockgraph", "internal/pattern", "internal/semver", "internal/specifier"}},
	// A hook may name a parser of diagnostics/parse.
	{"plugin/adapter/answer", []string{"plugin/wire", "plugin/wire/shape", "adapters", "diagnostics", "diagnostics/parse", "internal/tree/glob"}}, // checks globs
	{"plugin/bundle/registry", []string{"plugin/bundle", "plugin/bundle/archive", "plugin/bundle/manifest", "plugin/bundle/seal", "diagnostics", "internal/bounds", "internal/pattern", "internal/proc"}},
	{"plugin/sep", []string{"adapters", "diagnostics", "internal/jsonfile", "internal/jsontext", "plugin/host", "plugin/sep/manifest", "plugin/wire", "plugin/wire/shape"}},
	// Compiled modules are in a directory of bento's own.
	{"plugin/wasm", []string{"adapters", "plugin/host", "plugin/wire", "internal/clone", "internal/owndir", "internal/owner", "internal/rawfile", "internal/stat"}},
	// An extension may have children of its own, which end with it.
	{"plugin/ainb", []string{"plugin/host", "plugin/wire", "plugin/ainb/*", "adapters", "internal/proc"}},
	{"plugin/*", []string{"plugin/host", "plugin/wire", "plugin/wire/shape", "plugin/*/*", "adapters", "diagnostics"}},
	{"examples/extensions/*", []string{"plugin/extension"}},
	{"examples/*", []string{"plugin", "plugin/extension", "adapters", "diagnostics"}}, // the packages that an author of a plugin has
	// Globs decide whether a task makes the files that a source includes.
	{"internal/plan", []string{"adapters", "diagnostics", "internal/dag", "internal/dish", "internal/tree/glob"}},

	// 6
	// A family, and the formats that it reads. Families do not know each other,
	// which TestFamiliesApart checks.
	{"adapters/*", []string{"adapters", "adapters/snapshot", "adapters/*/*", "diagnostics", "internal/probe", "internal/tomlfile", "internal/jsonfile", "internal/lockgraph", "internal/pattern", "internal/semver", "internal/specifier"}},
	{"discovery/answers", []string{"adapters", "adapters/snapshot", "internal/clone", "internal/tree", "internal/state", "internal/pack", "internal/parallel"}}, // the answers of adapters
	// Expected answers have places; outputs are compared as a run does it, versions as a pin.
	{"plugin/plugintest", []string{"plugin", "plugin/*", "plugin/*/*", "adapters", "diagnostics", "internal/semver", "internal/tomlfile", "internal/tree/glob"}},
	// The exec of a manifest is run like any question to a tool.
	{"plugin/adapter", []string{"adapters/snapshot", "internal/probe", "plugin/host", "plugin/wire", "plugin/wire/shape", "plugin/*/*", "adapters", "diagnostics", "internal/semver"}},
	// The files of other build tools, which bento init maps. YAML has one parser.
	// A subset is made of the results of plan and tree; the targets of a manifest of Cargo are TOML.
	{"internal/prune", []string{"internal/clone", "internal/dish", "internal/plan", "internal/tomlfile", "internal/tree", "internal/tree/glob"}},
	// template.toml is TOML, and a template is read by the clone that follows no link.
	{"internal/template", []string{"diagnostics", "internal/clone", "internal/tomlfile"}},
	{"internal/foreign", []string{"diagnostics", "internal/clone", "internal/config", "internal/dish", "internal/jsonfile", "internal/pattern", "internal/tomlfile", "internal/tree/glob", "adapters/node/yamldoc"}},
	// A key is made of the results of discovery, tree and plan, and is looked up in the cache.
	{"internal/key", []string{"adapters", "cache", "diagnostics", "internal/dish", "internal/pack", "internal/parallel", "internal/plan", "internal/state", "internal/tree"}},

	// 7
	{"adapters/jvm/*", []string{"adapters", "adapters/snapshot", "adapters/jvm", "adapters/jvm/*", "diagnostics", "internal/probe", "internal/pattern", "internal/tomlfile"}}, // two adapters over what both share
	// Dishes that link to each other in a circle are found with dag.
	{"discovery", []string{"adapters", "adapters/snapshot", "diagnostics", "internal/dish", "internal/bounds", "internal/config", "internal/clone", "internal/owner", "internal/tree", "internal/pack", "internal/parallel", "internal/state", "internal/dag", "internal/codeowners", "discovery/*"}},
	// Logs end in the cache.
	{"internal/action", []string{"adapters", "cache", "diagnostics", "internal/clone", "internal/dish", "internal/key", "internal/killpoint", "internal/pack", "internal/pattern", "internal/plan", "internal/proc", "internal/state", "internal/tree"}},

	// 8
	{"adapters/builtin", []string{"adapters", "adapters/*", "adapters/*/*"}},
	{"internal/record", []string{"adapters", "cache", "cache/outputs", "internal/dish", "internal/action", "internal/key", "internal/pack", "internal/parallel", "internal/plan", "internal/state", "internal/tree"}},
	// The inputs of adapters are digested with the secret of package key. The findings of a tool, and
	// the offers of an adapter of the workspace, are checked like the answer of a plugin.
	{"internal/workspace", []string{"adapters", "adapters/snapshot", "adapters/declared", "cache", "diagnostics", "diagnostics/parse", "discovery", "internal/bounds", "internal/clone", "internal/config", "internal/dish", "internal/key", "internal/owndir",
		"internal/pack", "internal/plan", "internal/sandbox", "internal/semver", "internal/stat", "internal/state", "internal/tree", "plugin/adapter", "plugin/adapter/answer", "plugin/host"}},

	// 9
	{"internal/observe", []string{"internal/action", "internal/proc"}}, // an executor that sees what commands use
	// An executor that runs commands in containers. A dockerfile has a context, whose .dockerignore is globs.
	{"internal/container", []string{"adapters", "diagnostics", "internal/action", "internal/clone", "internal/dish", "internal/key", "internal/owndir", "internal/pattern", "internal/proc", "internal/record", "internal/state", "internal/tomlfile", "internal/tree", "internal/tree/glob"}},
	{"internal/confine", []string{"internal/action", "internal/key", "internal/proc", "internal/record", "internal/sandbox"}}, // an executor that keeps commands from what they do not declare
	// run finds the critical path, in a graph of tasks and installs that no plan has.
	{"internal/remoteexec", []string{"adapters", "cache", "cache/remote", "cache/remote/reapi", "internal/action", "internal/key", "internal/proc", "internal/state", "internal/tree"}}, // an executor on other machines
	{"internal/run", []string{"adapters", "cache", "cache/outputs", "diagnostics", "internal/dish", "internal/action", "internal/clone", "internal/dag", "internal/key", "internal/parallel",
		"internal/pack", "internal/plan", "internal/proc", "internal/record", "internal/state", "internal/tree"}},

	// Two executions of tasks are compared.
	{"internal/verify", []string{"cache", "diagnostics", "internal/action", "internal/key", "internal/plan", "internal/run", "internal/tree"}},

	// 10
	{"internal/tier", []string{"cache", "cache/remote", "diagnostics", "internal/run", "internal/state"}}, // the remote cache beside a run
	// Documents contain dishes and keys.
	{"internal/report", []string{"internal/verify", "internal/run", "internal/action", "internal/key", "internal/plan", "internal/tree", "internal/report/page",
		"diagnostics", "adapters", "cache", "internal/dish"}},
	{"internal/watch", []string{"cache", "internal/key", "internal/plan", "internal/run", "internal/tree"}}, // the loop of bento watch

	{"internal/feed", []string{"internal/run", "internal/state"}}, // what runs do, for other processes

	// 11
	// The reports of a run: on a terminal, and to other programs.
	{"internal/report/*", []string{"internal/report", "internal/report/*", "internal/run", "internal/action", "internal/plan", "diagnostics", "adapters", "cache"}},
	// Extensions of a run: which may start, and the events that they receive.
	{"internal/companion", []string{"internal/run", "internal/report", "internal/config", "internal/state", "internal/stat", "internal/owndir", "internal/rawfile", "internal/bounds", "internal/owner", "adapters", "diagnostics",
		"plugin/ainb", "plugin/ainb/manifest", "plugin/sep", "plugin/sep/manifest", "plugin/host"}},
	{"internal/screen", []string{"internal/proc", "internal/report", "plugin/ainb"}}, // cells of extensions on a terminal

	{"internal/ui", []string{"internal/feed", "internal/report/page", "internal/state"}}, // the page, served
	// bento watch --ui: events of runs and logs, on a terminal with keys.
	{"internal/panes", []string{"cache", "diagnostics", "internal/action", "internal/plan", "internal/proc", "internal/report", "internal/report/terminal", "internal/run", "internal/screen", "internal/state", "plugin/ainb"}},

	// Tools for agents, over the messages of plugins. Errors are documents.
	{"internal/mcp", []string{"diagnostics", "internal/report", "plugin/wire"}},

	// 12
	// The one door to what is not the core: TestOneDoor.
	{"internal/kit", []string{"adapters", "adapters/builtin", "adapters/snapshot", "diagnostics", "discovery", "internal/clone", "internal/companion", "internal/config", "internal/action", "internal/dish", "internal/owndir", "internal/owner", "internal/remoteexec", "internal/run", "internal/state", "internal/tier", "internal/workspace", "plugin/*", "plugin/*/*", "cache", "cache/remote", "cache/remote/*"}},

	// 13
	{"cmd/bento", []string{"**"}},
}

func TestImports(t *testing.T) {
	files := byPackage(sources(t))
	for _, pkg := range slices.Sorted(maps.Keys(files)) {
		r := rowOf(pkg)
		if r < 0 {
			t.Errorf("package %s has no row in the import table of internal/archtest/imports_test.go; add one that says what it may import and why it exists", pkg)
			continue
		}
		for _, s := range files[pkg] {
			for _, imp := range s.imports() {
				if s.test || !imp.ours {
					continue
				}
				if !allowed(table[r], imp.path) {
					t.Errorf("%s imports %s; package %s may import only %s", s.path, imp.path, pkg, orNothing(table[r].allow))
				}
				if rowOf(imp.path) > r {
					t.Errorf("%s imports %s, whose row is below that of %s", s.path, imp.path, pkg)
				}
			}
		}
	}
}

// rowOf returns the index of the row of a package, -1 for none.
func rowOf(pkg string) int {
	best := -1
	for i, r := range table {
		if match(r.pkg, pkg) && (best < 0 || strings.Count(r.pkg, "*") < strings.Count(table[best].pkg, "*")) {
			best = i
		}
	}
	return best
}

func match(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	if err != nil {
		panic(err)
	}
	return ok
}

func allowed(r row, imp string) bool {
	return slices.ContainsFunc(r.allow, func(p string) bool { return p == "**" || match(p, imp) })
}

func orNothing(allow []string) string {
	if len(allow) == 0 {
		return "nothing of ours"
	}
	return strings.Join(allow, ", ")
}

// TestFamiliesApart: a language family imports its own sub-packages and those of
// no other.
func TestFamiliesApart(t *testing.T) {
	family := func(p string) string {
		parts := strings.Split(p, "/")
		if len(parts) < 2 || parts[0] != "adapters" {
			return ""
		}
		return parts[1]
	}
	for _, s := range sources(t) {
		from := family(s.dir())
		if from == "" || from == "builtin" {
			continue
		}
		for _, imp := range s.imports() {
			if s.test && imp.path == "adapters/adaptertest" {
				continue // shared by their tests
			}
			if imp.path == "adapters/snapshot" {
				continue // shared by all
			}
			if to := family(imp.path); imp.ours && to != "" && to != from {
				t.Errorf("%s imports %s, of another family", s.path, imp.path)
			}
		}
	}
}

// hardLines are imports that no row of the table may ever allow.
var hardLines = []struct {
	from, to string // patterns; "/**" at the end also matches packages below
	tests    bool   // applies to tests, too
	why      string
}{
	{"internal/plan", "os/**", false, "planning is a pure function of what was read before"},
	{"internal/plan", "net/**", false, "planning does no network I/O"},
	{"internal/plan", "context", false, "planning never waits"},
	{"plugin", "plugin/host/**", true, "the SDK is for authors of plugins, who host nothing"},
	{"plugin/extension", "plugin/host/**", true, "the SDK is for authors of extensions, who host nothing"},
	{"plugin/wire", "os/exec", true, "wire knows no processes"},
	{"internal/run", "plugin/**", false, "it runs tasks of any adapter"},
	{"internal/run", "adapters/*/**", false, "it runs tasks of any adapter"},
	{"internal/action", "plugin/**", false, "it runs tasks of any adapter"},
	{"internal/action", "adapters/*/**", false, "it runs tasks of any adapter"},
	{"adapters/**", "os/exec", false, "an adapter starts processes through internal/probe alone"},
	{"adapters/**", "internal/config", true, "an adapter reads projects, not bento's settings"},
	{"diagnostics/**", "internal/config", true, "a record of a problem knows no settings"},
	{"cache/**", "internal/config", true, "the caller passes the bounds of a store"},
	{"**", "cmd/**", true, "commands are the end of the arrows"},
}

func TestHardLines(t *testing.T) {
	for _, s := range sources(t) {
		for _, imp := range s.imports() {
			for _, l := range hardLines {
				if below(l.from, s.dir()) && below(l.to, imp.path) && (l.tests || !s.test) {
					t.Errorf("%s imports %s, which it never may: %s", s.path, imp.path, l.why)
				}
			}
		}
	}
}

// behindDoor are the packages that internal/kit alone imports, beside themselves and the packages below them: opening
// a workspace, running it and asking about it need none of them.
var behindDoor = []string{"plugin/wasm", "plugin/oneshot", "plugin/bundle", "internal/companion"}

// otherDoors may import packages behind the door, too.
var otherDoors = map[string]string{
	"plugin/plugintest": "the suites start tools and modules as bento does",
}

func TestOneDoor(t *testing.T) {
	used := make(map[string]bool)
	for _, s := range sources(t) {
		from := s.dir()
		for _, imp := range s.imports() {
			room := slices.IndexFunc(behindDoor, func(room string) bool { return below(room+"/**", imp.path) })
			if !imp.ours || s.test || room < 0 || from == "internal/kit" || below(behindDoor[room]+"/**", from) {
				continue
			}
			if used[from] = true; otherDoors[from] == "" {
				t.Errorf("%s imports %s; only internal/kit does", s.path, imp.path)
			}
		}
	}
	for from := range otherDoors {
		if !used[from] {
			t.Errorf("%s is in otherDoors and imports nothing behind the door; take it out there", from)
		}
	}
}

// below is match with "/**" for a directory and all that is under it.
func below(pattern, name string) bool {
	dir, deep := strings.CutSuffix(pattern, "/**")
	if pattern == "**" {
		return true
	}
	if !deep {
		return match(pattern, name)
	}
	parts := strings.Split(name, "/")
	n := strings.Count(dir, "/") + 1
	return len(parts) >= n && match(dir, strings.Join(parts[:n], "/"))
}
