package main

import (
	"github.com/bentobuild/bento/internal/kit"
	"github.com/bentobuild/bento/internal/report"
)

// checkExtensions reports the extensions of the workspace, without starting one.
func (doc *diagnosis) checkExtensions(s *session, w *opened) {
	for _, e := range kit.FindExtensions(s.host(), w.Config).List {
		c := report.Check{Name: "extension." + e.ID, Status: "ok", Detail: e.Dir + ", " + e.Status}
		switch {
		case e.IsDisabled():
			c.Status = "skipped"
		case e.Problem != nil:
			c.Status, c.Detail, c.Hint = "warn", e.Problem.String(), e.Problem.Hint
		case len(e.Notes) > 0:
			c.Status, c.Detail, c.Hint = "warn", e.Notes[0].String(), "bento ext info "+e.ID
		}
		doc.Add(c)
	}
}
