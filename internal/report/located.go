package report

import "github.com/bentobuild/bento/diagnostics"

// Problem is a Diagnostic in a document, which leaves out the file and the line of a problem without a place. The
// messages of plugins always have both.
type Problem struct {
	File     string               `json:"file,omitempty"`
	Line     int                  `json:"line,omitempty"`
	Col      int                  `json:"col,omitempty"`
	EndLine  int                  `json:"end_line,omitempty"`
	EndCol   int                  `json:"end_col,omitempty"`
	Severity diagnostics.Severity `json:"severity"`
	Message  string               `json:"message"`
	Rule     string               `json:"rule,omitempty"`
	Source   string               `json:"source"`
	Hint     string               `json:"hint,omitempty"`

	Dish  string `json:"-"`
	Alike string `json:"-"`
}

// ProblemsOf returns the problems of a document, nil for nil.
func ProblemsOf(list []diagnostics.Diagnostic) []Problem {
	if list == nil {
		return nil
	}
	rows := make([]Problem, len(list))
	for i, d := range list {
		rows[i] = Problem(d)
	}
	return rows
}

// diagnosticsOf is the opposite of ProblemsOf.
func diagnosticsOf(rows []Problem) []diagnostics.Diagnostic {
	list := make([]diagnostics.Diagnostic, len(rows))
	for i, row := range rows {
		list[i] = diagnostics.Diagnostic(row)
	}
	return list
}
