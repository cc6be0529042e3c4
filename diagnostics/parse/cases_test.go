package parse

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/diagnostics"
)

// lint returns text as the stdout of a tool that ran in the dish "svc/api".
func lint(text string) diagnostics.Output {
	return diagnostics.Output{Stdout: []byte(text), Dir: "/repo/svc/api", Root: "/repo"}
}

func check(t *testing.T, parser string, o diagnostics.Output, want ...string) {
	t.Helper()
	got := strings.Split(strings.TrimSuffix(show(run(t, parser, o)), "\n"), "\n")
	if got[0] == "" {
		got = nil
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got)\n%s", parser, d)
	}
}

func cargoLine(manifest, source, file string) string {
	line := map[string]any{"reason": "compiler-message", "manifest_path": manifest, "target": map[string]any{"src_path": source},
		"message": map[string]any{"message": "m", "level": "warning", "code": nil, "children": []any{}, "spans": []any{map[string]any{
			"file_name": file, "line_start": 2, "line_end": 2, "column_start": 3, "column_end": 4, "is_primary": true}}}}
	text, _ := json.Marshal(line)
	return string(text) + "\n"
}

// Paths of a member of a cargo workspace are relative to the workspace (fault E2), and a diagnostic of
// several targets is reported once (E3).
func TestCargoPathsStartAtItsWorkspace(t *testing.T) {
	for _, c := range []struct{ manifest, source, file, base, want string }{
		{"/repo/rs/lib/Cargo.toml", "/repo/rs/lib/src/lib.rs", "lib/src/lib.rs", "", "rs/lib/src/lib.rs"},
		{"/repo/rs/lib/Cargo.toml", "/repo/rs/lib/src/lib.rs", "lib/src/deep/b.rs", "", "rs/lib/src/deep/b.rs"},
		{"/repo/rs/a/b/Cargo.toml", "/repo/rs/a/b/src/lib.rs", "a/b/src/lib.rs", "", "rs/a/b/src/lib.rs"},
		{"/repo/rs/Cargo.toml", "/repo/rs/src/main.rs", "src/main.rs", "", "rs/src/main.rs"},
		{"/repo/src/Cargo.toml", "/repo/src/src/main.rs", "src/main.rs", "", "src/src/main.rs"},
		{"/repo/src/Cargo.toml", "/repo/src/src/main.rs", "src/other.rs", "", "src/src/other.rs"},
		{"/repo/lib/Cargo.toml", "/repo/lib/build.rs", "lib/build.rs", "", "lib/build.rs"},
		{"/repo/rs/lib/Cargo.toml", "/repo/rs/lib/src/lib.rs", "lib/src/lib.rs", "/repo/rs", "rs/lib/src/lib.rs"},
		{"", "", "src/lib.rs", "", "svc/api/src/lib.rs"},
		{"", "", "api/src/lib.rs", "", "svc/api/src/lib.rs"},
	} {
		o := lint(strings.Repeat(cargoLine(c.manifest, c.source, c.file), 2)) // --all-targets prints it twice
		o.Base = c.base
		check(t, "cargo-message", o, c.want+`:2:3-2:4: cargo warning [] "m"`)
	}
	check(t, "cargo-message", lint(cargoLine("/else/Cargo.toml", "/else/src/lib.rs", "/else/src/lib.rs")), `: cargo warning [] "/else/src/lib.rs:2:3: m"`)
}

// The text of cargo names no manifest. The parser finds the package of an error by the line that names its
// directory.
func TestCargoTextOfAnotherPackage(t *testing.T) {
	const text = "    Checking api v0.1.0 (/repo/svc/api)\n    Checking lib v0.1.0 (/repo/svc/lib)\n" +
		"error: m\n --> lib/src/a.rs:2:3\n\nerror: n\n --> api/src/b.rs:4:5\n\nerror: o\n --> src/c.rs:6:7\n\nerror: p\n --> else/d.rs:8:9\n"
	check(t, "cargo-message", diagnostics.Output{Stderr: []byte(text), Dir: "/repo/svc/api", Root: "/repo"},
		`svc/api/else/d.rs:8:9: cargo error [] "p"`, `svc/api/src/b.rs:4:5: cargo error [] "n"`,
		`svc/api/src/c.rs:6:7: cargo error [] "o"`, `svc/lib/src/a.rs:2:3: cargo error [] "m"`)
}

func TestCargoMacros(t *testing.T) {
	text := `{"reason":"compiler-message","manifest_path":"/repo/a/Cargo.toml","message":{"message":"m","level":"note","spans":[
{"file_name":"<::std::macros::panic macros>","line_start":9,"column_start":1,"is_primary":true,"expansion":{"span":
{"file_name":"src/lib.rs","line_start":4,"column_start":5}}},{"file_name":"src/x.rs","line_start":1,"is_primary":false}]}}`
	check(t, "cargo-message", lint(text), `a/src/lib.rs:4:5: cargo info [] "m"`)
	check(t, "cargo-message", lint(strings.Replace(text, `"compiler-message"`, `"compiler-artifact"`, 1)))
}

func TestGolangci(t *testing.T) {
	v1 := `{"Issues":[{"FromLinter":"errcheck","Text":"Error return value is not checked","Severity":"","SourceLines":["x"],"Replacement":null,"Pos":{"Filename":"a.go","Offset":1,"Line":3,"Column":2}},{"FromLinter":"typecheck","Text":"undefined: x","Pos":{"Filename":"b/b.go","Line":0}},{"FromLinter":"none","Text":"no place"}],"Report":{"Linters":[{"Name":"govet"}]}}`
	check(t, "golangci-lint", lint("level=warning msg=\"old\"\n"+v1),
		`svc/api/a.go:3:2: golangci-lint warning [errcheck] "Error return value is not checked"`,
		`svc/api/b/b.go:1: golangci-lint error [typecheck] "undefined: x"`)
	v2 := `{"Issues":[{"FromLinter":"unused","Text":"func f is unused","Severity":"error","Pos":{"Filename":"svc/api/c.go","Line":3,"Column":6}}]}` + "\n1 issues:\n* unused: 1\n"
	check(t, "golangci-lint", lint(v2), `svc/api/c.go:3:6: golangci-lint error [unused] "func f is unused"`)
	check(t, "golangci-lint", lint("a.go:3:2: Error return value is not checked (errcheck)\n\tf()\n\t^\n1 issues:\n"),
		`svc/api/a.go:3:2: golangci-lint warning [errcheck] "Error return value is not checked"`)
	check(t, "golangci-lint", lint(`{"Issues":null,"Report":{}}`))
}

// Banners of yarn, npm and other tools around a document do not disturb the parser (fault E4).
func TestNoiseAroundJSON(t *testing.T) {
	doc := `[{"filePath":"/repo/svc/api/a.js","messages":[{"ruleId":null,"fatal":true,"severity":2,"message":"Parsing error: x"},{"ruleId":"semi","severity":1,"message":"Missing semicolon.","line":2,"column":7}]}]`
	want := []string{
		`svc/api/a.js:1: eslint error [] "Parsing error: x"`,
		`svc/api/a.js:2:7: eslint warning [semi] "Missing semicolon."`,
	}
	for _, text := range []string{
		"yarn run v1.22.22\n$ /repo/node_modules/.bin/eslint --format=json .\n" + doc + "\nerror Command failed with exit code 1.\ninfo Visit https://yarnpkg.com for documentation.\n",
		"\n> api@1.0.0 lint\n> eslint --format=json . [--] {x}\n\n" + doc,
		"[WARN] {not json\n{ \"also\": not\n" + doc,
		"\x1b[2mbun\x1b[0m " + doc[1:len(doc)-1],
		doc[1 : len(doc)-1], // elements of a cut array
		doc + doc,
	} {
		check(t, "eslint", lint(text), want...)
		check(t, "eslint", diagnostics.Output{Stderr: []byte(text), Dir: "/repo/svc/api", Root: "/repo"}, want...)
	}
}

// A file that is not valid Python is an error, not a warning (fault E7).
func TestRuffSeverity(t *testing.T) {
	for code, want := range map[string]string{`"F401"`: "warning [F401]", `"E902"`: "error [E902]", `null`: "error []", `"invalid-syntax"`: "error [invalid-syntax]"} {
		line := `{"filename":"a.py","code":` + code + `,"message":"m","location":{"row":1,"column":2},"severity":"error"}`
		check(t, "ruff", lint(line+"\n"+line), `svc/api/a.py:1:2: ruff `+want+` "m"`)
	}
	check(t, "ruff", lint("F401 [*] `os` imported but unused\n --> a.py:1:8\n  |\n1 | import os\n  |        ^^\n  |\nhelp: Remove unused import: `os`\n\ninvalid-syntax: Expected x\n --> b.py:2:1\n"),
		"svc/api/a.py:1:8: ruff warning [F401] \"`os` imported but unused\"",
		`svc/api/b.py:2:1: ruff error [invalid-syntax] "Expected x"`)
}

func TestGNU(t *testing.T) {
	check(t, "gnu", lint(strings.Join([]string{
		"src/a.c:3:5: warning: unused variable 'x' [-Wunused-variable]",
		"src/a.c:4: fatal error: nope.h: No such file or directory",
		"src/a.c:4: note: here",
		"./x.py:1:80: E501 line too long",
		"../../lib/y.go:7:2: should not use dot imports (ST1001)",
		"Makefile:3: *** missing separator.  Stop.",
		`sub\win.cs:9:1: error: bad`,
		"file:///repo/svc/api/a%20b.ts:1:1: error: spaced",
		"\x1b[1mz.c:1:1: \x1b[31merror: \x1b[0mred\x1b[K",
		"12:30:45: not a file", "2026-01-02T10:11:12: nor this", "http://host.example:80: refused", "127.0.0.1:8080: refused",
		"dial tcp db.internal:5432: refused", "localhost:80: x", "see the file a.c:3: it is bad", "   at f (x.js:3:4)", "a.c:3:", "",
		"x.c:99999999999999999999:1: error: far",
	}, "\n")),
		`lib/y.go:7:2: gnu error [ST1001] "should not use dot imports"`,
		`svc/api/Makefile:3: gnu error [] "*** missing separator.  Stop."`,
		`svc/api/a b.ts:1:1: gnu error [] "spaced"`,
		`svc/api/src/a.c:3:5: gnu warning [-Wunused-variable] "unused variable 'x'"`,
		`svc/api/src/a.c:4: gnu error [] "nope.h: No such file or directory"`,
		`svc/api/src/a.c:4: gnu info [] "here"`,
		`svc/api/sub/win.cs:9:1: gnu error [] "bad"`,
		`svc/api/x.c:1:1: gnu error [] "far"`,
		`svc/api/x.py:1:80: gnu error [E501] "line too long"`,
		`svc/api/z.c:1:1: gnu error [] "red"`)
	o := lint("a.c:1: x")
	o.Tool = "cc"
	check(t, "gnu", o, `svc/api/a.c:1: cc error [] "x"`)
}

func TestMypy(t *testing.T) {
	check(t, "mypy", lint("a.py:3: error: Incompatible types  [assignment]\na.py:3:5: note: See docs\na.py:4:5:4:9: error: Name \"x\" is not defined  [name-defined]\nFound 2 errors in 1 file (checked 2 source files)\n"),
		`svc/api/a.py:3: mypy error [assignment] "Incompatible types"`,
		`svc/api/a.py:3:5: mypy info [] "See docs"`,
		`svc/api/a.py:4:5-4:10: mypy error [name-defined] "Name \"x\" is not defined"`)
	check(t, "mypy", lint(`{"file": "a.py", "line": 3, "column": 4, "message": "bad", "hint": null, "code": "x", "severity": "error"}`),
		`svc/api/a.py:3:5: mypy error [x] "bad"`)
}

func TestTSC(t *testing.T) {
	check(t, "tsc", lint("\x1b[96msrc/a.ts\x1b[0m:\x1b[93m4\x1b[0m:\x1b[93m9\x1b[0m - \x1b[91merror\x1b[0m\x1b[90m TS2345: \x1b[0mArgument of type 'A' is not assignable.\n  Type 'A' is missing b.\n    Deeper.\n\n4   f(a)\n    ~~~\n\nFound 1 error in src/a.ts:4\n"+
		"../lib/b.ts(1,2): error TS1005: ';' expected.\nerror TS18003: No inputs were found.\n"),
		`svc/api/src/a.ts:4:9: tsc error [TS2345] "Argument of type 'A' is not assignable.\n  Type 'A' is missing b.\n    Deeper."`,
		`svc/lib/b.ts:1:2: tsc error [TS1005] "';' expected."`)
}

func TestSARIF(t *testing.T) {
	text := `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"Scan"}},"originalUriBaseIds":{"R":{"uri":"file:///repo/"}},"results":[
{"ruleId":"r1","level":"error","message":{"text":"bad"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a%20b.c","uriBaseId":"R"},"region":{"startLine":3,"startColumn":2,"endColumn":5}}}]},
{"ruleId":"r2","message":{"text":"meh"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"c.c"},"region":{"startLine":1}}}]},
{"ruleId":"r3","kind":"pass","message":{"text":"fine"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"c.c"}}}]},
{"ruleId":"r4","message":{"text":"nowhere"}}]}]}`
	check(t, "sarif", lint(text), `a b.c:3:2-3:5: Scan error [r1] "bad"`, `svc/api/c.c:1: Scan warning [r2] "meh"`)
}

func TestJavaFamily(t *testing.T) {
	check(t, "javac", lint("src/A.java:3: warning: [deprecation] f in B has been deprecated\n    b.f();\n     ^\n1 warning\n"),
		`svc/api/src/A.java:3: javac warning [deprecation] "f in B has been deprecated"`)
	check(t, "gradle", lint("e: file:///repo/svc/api/src/A.kt:3:5 Unresolved reference: x\nw: /repo/svc/api/src/B.kt: (7, 1): Unused\n"),
		`svc/api/src/A.kt:3:5: gradle error [] "Unresolved reference: x"`,
		`svc/api/src/B.kt:7:1: gradle warning [] "Unused"`)
	check(t, "maven", lint("[WARNING] /repo/svc/api/src/A.java:[3,5] [unchecked] unchecked call\n"),
		`svc/api/src/A.java:3:5: maven warning [unchecked] "unchecked call"`)
	check(t, "maven", lint("[ERROR] Failed to execute goal org.apache.rat:apache-rat-plugin:0.13:check (rat-check) on project x: Too many files with unapproved license: 2 See RAT report in: /repo/target/rat.txt -> [Help 1]\n"),
		`svc/api/pom.xml:1: maven error [rat] "Too many files with unapproved license: 2" hint "Apache RAT also checks bento's logs, unless .bento/ is in the .gitignore beside the topmost pom.xml"`)
}

func TestPHPStan(t *testing.T) {
	check(t, "phpstan", lint(`{"totals":{"errors":0,"file_errors":1},"files":{"/repo/svc/api/T.php (in context of class C)":{"errors":1,"messages":[{"message":"bad","line":null,"ignorable":true,"identifier":"x.y","tip":"do z"}]}},"errors":[]}`),
		`svc/api/T.php:1: phpstan error [x.y] "bad" hint "do z"`)
	check(t, "phpstan", lint(`{"totals":{},"files":[],"errors":["no"]}`))
}
