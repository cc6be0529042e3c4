package parse

import (
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/pattern"
)

// goEvent is a line of "go test -json" and "go build -json".
// https://pkg.go.dev/cmd/test2json, go help buildjson
type goEvent struct {
	Action, Package, Test, Output, ImportPath string
}

func parseGoBuild(f *finder) {
	f.tool = "go"
	b := goBuild(f)
	for line := range linesOf(f.out.Stdout, f.out.Stderr) {
		if e, ok := goEventOf(line); ok {
			line = strings.TrimRight(e.Output, "\n")
		}
		b.line(line)
	}
	b.flush()
}

// goCompiler reads the messages of the compilers that go calls.
type goCompiler struct {
	gnu
	dir string // of the package, relative to the module, with "/" at the end; "" if it is unknown
}

func goBuild(f *finder) *goCompiler {
	return &goCompiler{gnu: gnu{finder: f, style: gnuStyle{severity: diagnostics.Error, fold: true}}}
}

// line reads a line. "# import/path [import/path.test]" and "# [import/path]" begin the messages about a package.
func (b *goCompiler) line(line string) {
	line = strings.TrimPrefix(line, "vet: ")
	if header, ok := strings.CutPrefix(line, "# "); ok {
		b.flush()
		pkg, _, _ := strings.Cut(header, " ")
		b.dir = packageDir(b.finder.out.Module, strings.Trim(pkg, "[]"))
	}
	b.gnu.line(line)
	b.last.File = b.located(b.last.File)
}

// located returns a file relative to the module. The compiler of C runs in the directory of the package, and go
// corrects the paths of Go files alone.
func (b *goCompiler) located(file string) string {
	if file == "" || strings.HasSuffix(file, ".go") || absolute(slashed(file)) || strings.HasPrefix(file, b.dir) {
		return file
	}
	return b.dir + file
}

func goEventOf(line string) (goEvent, bool) {
	if !strings.HasPrefix(line, `{"`) {
		return goEvent{}, false
	}
	e, ok := decode[goEvent]([]byte(line))
	return e, ok && e.Action != ""
}

// goTests sorts the output of a run of tests by the test that wrote it.
type goTests struct {
	finder   *finder
	build    *goCompiler
	building bool // the lines are output of the compiler

	packages []string
	logs     []*goLog
	open     map[[2]string]*goLog // by package and test
	unowned  int                  // later logs still wait for the line that names their package
	current  string               // test
}

type goLog struct {
	pkg, test string
	failed    bool
	text      strings.Builder
}

// parseGoTest reads "go test", with -v, with -json or without. The text names the package
// of a failed test but not its directory: see Output.Module.
func parseGoTest(f *finder) {
	f.tool = "go"
	g := &goTests{finder: f, build: goBuild(f), open: make(map[[2]string]*goLog)}
	for line := range linesOf(f.out.Stdout, f.out.Stderr) {
		if e, ok := goEventOf(line); ok {
			g.event(e)
		} else {
			g.line(line)
		}
	}
	g.build.flush()
	module := f.out.Module
	if module == "" {
		module = commonPath(g.packages)
	}
	for _, log := range g.logs {
		log.find(f, packageDir(module, log.pkg))
	}
}

func (g *goTests) log(pkg, test string) *goLog {
	key := [2]string{pkg, test}
	if g.open[key] == nil {
		g.open[key] = &goLog{pkg: pkg, test: test}
		g.logs = append(g.logs, g.open[key])
	}
	return g.open[key]
}

func (g *goTests) event(e goEvent) {
	if e.Package != "" && (len(g.packages) == 0 || g.packages[len(g.packages)-1] != e.Package) {
		g.packages = append(g.packages, e.Package)
	}
	switch e.Action {
	case "build-output":
		g.build.line(strings.TrimRight(e.Output, "\n"))
	case "output":
		g.log(e.Package, e.Test).text.WriteString(diagnostics.Unescaped(e.Output))
	case "fail":
		g.log(e.Package, e.Test).failed = true
	}
}

var (
	goTestEnd   = pattern.New(`^\s*--- (PASS|FAIL|SKIP|BENCH): (\S+)`)
	goTestNow   = pattern.New(`^=== (?:RUN|CONT|NAME)\s+(\S*)`)
	goPackage   = pattern.New(`^(?:ok  |FAIL|\?   |---)?\t(\S+)(?:\s|$)`)
	goTestLine  = pattern.New(`^( +)([^\s:][^:]*\.go):(\d+): ?(.*)$`)
	goRecovered = pattern.New(` \[recovered(?:, repanicked)?\]$`)
	goFrame     = pattern.New(`^\t(.+\.go):(\d+)(?: \+0x[0-9a-f]+)?$`)
)

// line reads a line of plain output.
func (g *goTests) line(line string) {
	if strings.HasPrefix(line, "# ") {
		g.building = true
	} else if m := goPackage.FindStringSubmatch(line); m != nil && !g.inBuild(line) {
		g.close(m[1])
		return
	}
	if g.building {
		g.build.line(line)
		return
	}
	if m := goTestEnd.FindStringSubmatch(line); m != nil {
		g.current = m[2]
		g.log("", g.current).failed = m[1] == "FAIL"
	} else if m := goTestNow.FindStringSubmatch(line); m != nil {
		g.current = m[1]
	} else {
		g.log("", g.current).text.WriteString(line + "\n")
	}
}

// inBuild reports whether a line belongs to the compiler: lines that start with a tab
// continue its message.
func (g *goTests) inBuild(line string) bool {
	return strings.HasPrefix(line, "\t") && (g.building || g.current != "")
}

// close ends the output of a package.
func (g *goTests) close(pkg string) {
	g.build.flush()
	g.building, g.current = false, ""
	g.packages = append(g.packages, pkg)
	for _, log := range g.logs[g.unowned:] {
		if log.pkg == "" {
			log.pkg = pkg
			delete(g.open, [2]string{"", log.test})
		}
	}
	g.unowned = len(g.logs)
}

// find reads the output of a test: t.Error's lines if it failed, and a panic.
func (l *goLog) find(f *finder, dir string) {
	var at diagnostics.Diagnostic
	indent, panicked := "", ""
	for line := range strings.Lines(l.text.String()) {
		line = strings.TrimRight(line, "\r\n")
		if m := goTestLine.FindStringSubmatch(line); m != nil && l.failed && l.test != "" {
			f.addGoTest(dir, at)
			at = diagnostics.Diagnostic{File: m[2], Line: number(m[3]), Severity: diagnostics.Error, Message: l.test + ": " + m[4]}
			indent = m[1] + "    "
			continue
		}
		if at.File != "" && strings.HasPrefix(line, indent) && len(at.Message) < maxMessage {
			at.Message += "\n" + line[len(indent):]
			continue
		}
		f.addGoTest(dir, at)
		at = diagnostics.Diagnostic{}
		panicked = l.panic(f, panicked, line)
	}
	f.addGoTest(dir, at)
}

// panic waits, after the message of a panic, for its first frame in the workspace.
func (l *goLog) panic(f *finder, message, line string) string {
	if strings.HasPrefix(line, "panic: ") && message == "" {
		return strings.TrimPrefix(l.test+": ", ": ") + goRecovered.ReplaceAllString(line, "")
	}
	if m := goFrame.FindStringSubmatch(line); m != nil && message != "" && f.ours(m[1]) {
		f.add(diagnostics.Diagnostic{File: m[1], Line: number(m[2]), Severity: diagnostics.Error, Message: message})
		return ""
	}
	return message
}

func (f *finder) addGoTest(dir string, d diagnostics.Diagnostic) {
	if d.File == "" {
		return
	}
	if !absolute(slashed(d.File)) {
		d.File = dir + d.File
	}
	f.add(d)
}

// packageDir returns the directory of a package below the module, with "/" at the end, or
// "".
func packageDir(module, pkg string) string {
	if dir, ok := insideDir(module, pkg); ok {
		return dir + "/"
	}
	return ""
}

// commonPath returns the longest import path that all packages are at or below.
func commonPath(packages []string) string {
	if len(packages) == 0 {
		return ""
	}
	common := packages[0]
	for _, p := range packages[1:] {
		for common != "" && !strings.HasPrefix(p+"/", common+"/") {
			common = common[:max(0, strings.LastIndexByte(common, '/'))]
		}
	}
	return common
}
