package main

import (
	"bytes"
	"context"
	"fmt"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/kit"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/export"
)

// companionsOf returns a function that starts the extensions of a configuration once, concurrently
// with discovery.
func (s *session) companionsOf(ctx context.Context, t *reporting) func(*config.Workspace) {
	return func(cfg *config.Workspace) {
		if t.companions == nil && len(cfg.Extensions) > 0 {
			t.companions = kit.StartExtensions(ctx, s.host(), cfg, s.hearing())
			t.output = t.output || t.companions.HearsOutput()
		}
	}
}

// hearing returns the receivers of what extensions cause.
func (s *session) hearing() kit.Hearing {
	return kit.Hearing{
		Guard: func() { guard(nil) }, Toast: s.toast,
		Warn: func(d diagnostics.Diagnostic) {
			s.writeOnce(func(b *bytes.Buffer) { report.WriteProblems(b, s.style, []diagnostics.Diagnostic{d}) })
		},
	}
}

// writeOnce writes the output of write to stderr in a single call: other goroutines write there too.
func (s *session) writeOnce(write func(*bytes.Buffer)) {
	var b bytes.Buffer
	write(&b)
	s.err.Write(b.Bytes()) //nolint:errcheck // there is no other stream for the error
}

// toast prints a message of an extension, above the block of a live run.
func (s *session) toast(extension, level, message string) {
	if s.github() {
		s.out.Write(export.Notice(level, extension, message)) //nolint:errcheck // as above
		return
	}
	paint := map[string]func(string) string{"success": s.style.Green, "warning": s.style.Yellow, "error": s.style.Red}[level]
	if paint == nil {
		paint = s.style.Bold
	}
	s.writeOnce(func(b *bytes.Buffer) {
		fmt.Fprintf(b, "bento: %s: %s\n", paint(report.PrintableLine(extension)), report.Indent(report.Printable(message)))
	})
}

// hearOf publishes the plugins that have failed so far, each once.
func (t *reporting) hearOf(w *opened) {
	if t.companions == nil {
		return
	}
	for _, p := range w.Plugins.Status() {
		if p.Status != "failed" || t.lost[p.ID] {
			continue
		}
		if t.lost == nil {
			t.lost = make(map[string]bool)
		}
		t.lost[p.ID] = true
		t.companions.PluginFailed(p.ID, string(p.Code), p.Message)
	}
}

// endCompanions ends the extensions.
func (t *reporting) endCompanions() { t.companions.Close() }
