package parse

import (
	"strings"

	"github.com/bentobuild/bento/diagnostics"
)

// parseGolangci reads the JSON of golangci-lint 1 and 2, or its text.
// https://golangci-lint.run/docs/configuration/file/#output-configuration
func parseGolangci(f *finder) {
	type issue struct {
		FromLinter, Text, Severity string
		Pos                        *struct {
			Filename     string
			Line, Column int
		}
	}
	type report struct{ Issues []issue }
	f.tool = "golangci-lint"
	add := func(i issue) {
		if i.Pos == nil {
			return
		}
		severity := severityOf(i.Severity, diagnostics.Warning)
		if i.FromLinter == "typecheck" { // it does not compile
			severity = diagnostics.Error
		}
		f.addAt(f.golangciBase(i.Pos.Filename), diagnostics.Diagnostic{File: i.Pos.Filename, Line: i.Pos.Line, Col: i.Pos.Column,
			Severity: severity, Message: i.Text, Rule: i.FromLinter})
	}
	for doc := range documents(`{"FromLinter"`, f.out.Stdout, f.out.Stderr) {
		for _, r := range eachOf[report](doc) {
			for _, i := range r.Issues {
				add(i)
			}
		}
		for _, i := range eachOf[issue](doc) {
			add(i)
		}
	}
	f.gnuLines(gnuStyle{severity: diagnostics.Warning, linter: true})
}

// golangciBase returns the directory that a path is relative to. Version 2 starts at the
// directory of its configuration, which is often the top of the workspace, version 1 at the
// working directory. A path that contains the dish is of the first kind.
func (f *finder) golangciBase(name string) string {
	dish, ok := insideDir(slashed(f.out.Root), slashed(f.out.Dir))
	if _, below := insideDir(dish, slashed(name)); ok && below && f.out.Base == "" {
		return f.out.Root
	}
	return f.base()
}

// parseESLint reads eslint's formats json and stylish.
// https://eslint.org/docs/latest/use/formatters/#json
func parseESLint(f *finder) {
	type file struct {
		FilePath string
		Messages []struct {
			RuleID                           string
			Severity                         int
			Message                          string
			Line, Column, EndLine, EndColumn int
		}
	}
	f.tool = "eslint"
	for doc := range documents(`{"filePath"`, f.out.Stdout, f.out.Stderr) {
		for _, e := range eachOf[file](doc) {
			for _, m := range e.Messages {
				severity := diagnostics.Warning
				if m.Severity == 2 {
					severity = diagnostics.Error
				}
				f.add(diagnostics.Diagnostic{File: e.FilePath, Line: m.Line, Col: m.Column, EndLine: m.EndLine, EndCol: m.EndColumn,
					Severity: severity, Message: m.Message, Rule: m.RuleID})
			}
		}
	}
	f.stylish()
}

// parseRuff reads ruff's formats json, json-lines, full and concise.
// https://docs.astral.sh/ruff/settings/#output-format
func parseRuff(f *finder) {
	type place struct{ Row, Column int }
	type finding struct {
		Filename, Code, Message string
		Location                *place
		EndLocation             place `json:"end_location"`
	}
	f.tool = "ruff"
	for doc := range documents(`{"cell"`, f.out.Stdout, f.out.Stderr) {
		for _, r := range eachOf[finding](doc) {
			if r.Location == nil {
				continue
			}
			f.add(diagnostics.Diagnostic{File: r.Filename, Line: r.Location.Row, Col: r.Location.Column,
				EndLine: r.EndLocation.Row, EndCol: r.EndLocation.Column,
				Severity: ruffSeverity(r.Code, r.Message), Message: r.Message, Rule: r.Code})
		}
	}
	f.arrows(func(_, rule, message string) diagnostics.Severity { return ruffSeverity(rule, message) })
	f.gnuLines(gnuStyle{grade: ruffSeverity})
}

// ruffSeverity returns Error only if the file cannot be parsed (no code in old versions) or
// read (E902): ruff calls every diagnostic an error.
func ruffSeverity(code, message string) diagnostics.Severity {
	if code == "" || code == "invalid-syntax" || code == "E999" || code == "E902" || strings.HasPrefix(message, "SyntaxError:") {
		return diagnostics.Error
	}
	return diagnostics.Warning
}

// parseRuboCop reads RuboCop's format json, or emacs and clang.
// https://docs.rubocop.org/rubocop/formatters.html#json-formatter
func parseRuboCop(f *finder) {
	type report struct {
		Files []struct {
			Path     string
			Offenses []struct {
				Severity, Message string
				Cop               string `json:"cop_name"`
				Location          struct {
					Line, Column int
					LastLine     int `json:"last_line"`
					LastColumn   int `json:"last_column"` // inclusive
				}
			}
		}
	}
	f.tool = "rubocop"
	for doc := range documents(`{"metadata"`, f.out.Stdout, f.out.Stderr) {
		for _, r := range eachOf[report](doc) {
			for _, file := range r.Files {
				for _, o := range file.Offenses {
					f.add(diagnostics.Diagnostic{File: file.Path, Line: o.Location.Line, Col: o.Location.Column,
						EndLine: o.Location.LastLine, EndCol: o.Location.LastColumn + 1,
						Severity: severityOf(o.Severity, diagnostics.Warning), Message: o.Message, Rule: o.Cop})
				}
			}
		}
	}
	f.gnuLines(gnuStyle{severity: diagnostics.Warning})
}

// parseDenoLint reads "deno lint --json", whose columns count from zero, or its
// text. https://docs.deno.com/runtime/reference/cli/lint/
func parseDenoLint(f *finder) {
	type place struct{ Line, Col int }
	type report struct {
		Diagnostics []struct {
			Filename, Message, Code, Hint string
			Range                         struct{ Start, End place }
		}
	}
	for doc := range documents(`{"version"`, f.out.Stdout, f.out.Stderr) {
		for _, r := range eachOf[report](doc) {
			for _, d := range r.Diagnostics {
				f.add(diagnostics.Diagnostic{File: d.Filename, Line: d.Range.Start.Line, Col: d.Range.Start.Col + 1,
					EndLine: d.Range.End.Line, EndCol: d.Range.End.Col + 1, Severity: diagnostics.Error,
					Message: d.Message, Rule: d.Code, Hint: d.Hint})
			}
		}
	}
	f.arrows(func(level, _, _ string) diagnostics.Severity { return severityOf(level, diagnostics.Error) })
}
