package parse

import (
	"cmp"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/pattern"
)

var (
	javaLevel = pattern.New(`^(?:\[ant:[\w-]+\] )?\[(ERROR|WARNING|WARN|INFO)\] +`)
	javaTask  = pattern.New(`^(?:> Task )?(?::[\w.-]+)+(?:\[ant:[\w-]+\] \[(ERROR|WARN|WARNING|INFO)\] )?(/)`)
	mavenAt   = pattern.New(`^(/?[^\s:].*?\.\w+):\[(\d+)(?:,(\d+))?\] (?:(error|warning): )?(?:\([a-z]+\) ([A-Z]\w+): )?(.+)$`)
	kotlinAt  = pattern.New(`^([ew]): (.+?\.kts?):(?: ?\()?(\d+)[:,] ?(\d+)\)?:? (.+)$`)
	javaRule  = pattern.New(`^\[([\w-]+)\] (.+)$`)
	ratFound  = pattern.New(`org\.apache\.rat:apache-rat-plugin:.*: (Too many files with unapproved license: \d+)`)
	javaLast  = pattern.New(`^(.+) \[([A-Z]\w+)\]$`)
)

// parseJava reads javac and kotlinc, alone or through Maven or Gradle, Checkstyle in both,
// and failed tests.
func parseJava(f *finder) {
	for line := range linesOf(f.out.Stdout, f.out.Stderr) {
		level := ""
		if m := javaLevel.FindStringSubmatch(line); m != nil {
			level, line = m[1], line[len(m[0]):]
		}
		if m := javaTask.FindStringSubmatch(line); m != nil { // Gradle's progress without a line end
			level, line = level+m[1], line[len(m[0])-1:]
		}
		if m := ratFound.FindStringSubmatch(line); m != nil {
			f.add(diagnostics.Diagnostic{File: "pom.xml", Line: 1, Severity: diagnostics.Error, Rule: "rat", Message: m[1],
				Hint: "Apache RAT also checks bento's logs, unless .bento/ is in the .gitignore beside the topmost pom.xml"})
		}
		if d, ok := javaFinding(line, severityOf(level, diagnostics.Error)); ok {
			f.add(d)
		}
	}
	for _, t := range javaFailures(linesOf(f.out.Stdout, f.out.Stderr)) {
		f.addAt(cmp.Or(t.Dir, f.base()), diagnostics.Diagnostic{File: t.File, Line: t.Line, Message: t.Name + ": " + t.Message})
	}
}

func javaFinding(line string, severity diagnostics.Severity) (diagnostics.Diagnostic, bool) {
	if m := mavenAt.FindStringSubmatch(line); m != nil {
		return javaDiagnostic(diagnostics.Diagnostic{File: m[1], Line: number(m[2]), Col: number(m[3]),
			Severity: severityOf(m[4], severity), Rule: m[5], Message: m[6]}), true
	}
	if m := kotlinAt.FindStringSubmatch(line); m != nil {
		return diagnostics.Diagnostic{File: m[2], Line: number(m[3]), Col: number(m[4]), Severity: severityOf(m[1], diagnostics.Error), Message: m[5]}, true
	}
	d, ok := gnuFinding(line, gnuStyle{severity: severity})
	return javaDiagnostic(d), ok
}

// javaDiagnostic sets the rule from the lint of javac or the check of Checkstyle.
func javaDiagnostic(d diagnostics.Diagnostic) diagnostics.Diagnostic {
	if m := javaRule.FindStringSubmatch(d.Message); m != nil && d.Rule == "" {
		d.Rule, d.Message = m[1], m[2]
	}
	if m := javaLast.FindStringSubmatch(d.Message); m != nil && d.Rule == "" {
		d.Rule, d.Message = m[2], m[1]
	}
	return d
}
