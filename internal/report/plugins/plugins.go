// Package plugins renders what the commands of `bento plugin` find out.
package plugins

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/report"
)

// List is the document of `bento plugin list`.
type List struct {
	Schema  string `json:"schema"`
	Plugins []Row  `json:"plugins"`
}

// Row is one executable that was found on PATH.
type Row struct {
	ID          string  `json:"id"`
	Path        string  `json:"path"`
	Contract    string  `json:"contract"`
	Status      string  `json:"status"` // loaded, failed, disabled, not_allowed, shadowed
	Code        string  `json:"code,omitempty"`
	Message     string  `json:"message,omitempty"`
	DisplayName string  `json:"display_name,omitempty"`
	Identity    string  `json:"identity,omitempty"`
	HandshakeMS float64 `json:"handshake_ms,omitempty"`
}

// NewList makes the document of plugins in the order of PATH.
func NewList(list []Row) List { return List{Schema: report.Schema("plugin.list"), Plugins: list} }

// WriteList prints plugins for people.
func WriteList(w io.Writer, style report.Style, doc List) {
	if len(doc.Plugins) == 0 {
		fmt.Fprintln(w, "no bento-adapter-* on PATH")
		return
	}
	for _, p := range doc.Plugins {
		paint := style.Green
		if p.Status != "loaded" {
			paint = style.Yellow
		}
		fmt.Fprintf(w, "%s %-16s %s\n", paint(fmt.Sprintf("%-11s", p.Status)), report.Printable(p.ID), report.Printable(p.Path))
		if p.DisplayName != "" {
			fmt.Fprintf(w, "            %s\n", style.Dim(report.Printable(p.DisplayName)))
		}
		if p.Message != "" {
			fmt.Fprintf(w, "            %s\n", report.Indent(report.Printable(p.Message)))
		}
	}
}

// Info is the document of `bento plugin info`.
type Info struct {
	Schema string `json:"schema"`
	Row
	Fingerprint string             `json:"fingerprint,omitempty"` // of its toolchain
	Manifest    *adapters.Manifest `json:"manifest"`
	Asked       []Asked            `json:"asked"`
}

// Asked is one request to a plugin and its answer.
type Asked struct {
	Method     string          `json:"method"`
	Params     json.RawMessage `json:"params,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"`
	Error      *Error          `json:"error,omitempty"` // in place of a result
	DurationMS float64         `json:"duration_ms"`
}

// NewInfo makes the document of a plugin and its manifest.
func NewInfo(p Row, m *adapters.Manifest) Info {
	return Info{Schema: report.Schema("plugin.info"), Row: p, Manifest: m}
}

// WriteInfo prints a plugin for people.
func WriteInfo(w io.Writer, style report.Style, doc Info) {
	m := doc.Manifest
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "%-13s %s\n", name, report.Indent(report.Printable(text)))
		}
	}
	line(style.Bold(doc.ID), doc.DisplayName)
	line("path", doc.Path)
	line("identity", doc.Identity)
	line("handshake", fmt.Sprintf("%.1f ms", doc.HandshakeMS))
	line("toolchain", cmp.Or(doc.Fingerprint, doc.Message))
	line("offers", strings.Join(offered(m.Capabilities), ", "))
	line("marked by", strings.Join(m.FingerprintFiles, ", "))
	for _, t := range m.DefaultTasks {
		line("task", t.Name+": "+t.Run)
	}
	for _, task := range slices.Sorted(maps.Keys(m.DiagnosticHooks)) {
		h := m.DiagnosticHooks[task]
		line("hook", fmt.Sprintf("%s: %s %s, parser %s", task, h.Rerun.Kind, h.Rerun.Command+strings.Join(h.Rerun.Args, " "), h.Parser))
	}
	for _, a := range doc.Asked {
		line("asked", fmt.Sprintf("%s %s (%.1f ms)", a.Method, clip(a.Params), a.DurationMS))
		if a.Error != nil {
			line("  answered", fmt.Sprintf("error %d: %s %s", a.Error.Code, a.Error.Message, clip(a.Error.Data)))
		} else {
			line("  answered", clip(a.Result))
		}
	}
}

// clip gives the beginning of a JSON text.
func clip(text json.RawMessage) string {
	if most := 200; len(text) > most {
		return strings.ToValidUTF8(string(text[:most]), "") + "…"
	}
	return string(text)
}

// offered names the capabilities that are on.
func offered(c adapters.Capabilities) (names []string) {
	var all map[string]bool
	text, err := json.Marshal(c)
	if err == nil && json.Unmarshal(text, &all) == nil {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if all[name] {
				names = append(names, name)
			}
		}
	}
	return names
}

// Call is the document of `bento plugin call`.
type Call struct {
	Schema     string          `json:"schema"`
	ID         string          `json:"id"`
	Method     string          `json:"method"`
	Result     json.RawMessage `json:"result,omitempty"`
	Error      *Error          `json:"error,omitempty"` // in place of a result
	Wrong      string          `json:"wrong,omitempty"` // how the result differs from the contract
	DurationMS float64         `json:"duration_ms"`
}

// Error is an error that a plugin answered with.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// NewCall makes the document of a call that took that long.
func NewCall(id, method string, took time.Duration) Call {
	return Call{Schema: report.Schema("plugin.call"), ID: id, Method: method, DurationMS: float64(took.Microseconds()) / 1000}
}

// Test is the document of `bento plugin test`.
type Test struct {
	Schema     string  `json:"schema"`
	ID         string  `json:"id"` // that the plugin announced, "" for none
	Path       string  `json:"path"`
	Axes       []Axis  `json:"axes"`
	Passed     int     `json:"passed"`
	Failed     int     `json:"failed"` // of level MUST
	Missed     int     `json:"missed"` // of level SHOULD
	DurationMS float64 `json:"duration_ms"`
}

// Axis is what came of one clause of the contract.
type Axis struct {
	Clause   string `json:"clause"` // of docs/PROTOCOL.md
	Level    string `json:"level"`  // MUST, SHOULD
	Status   string `json:"status"` // pass, fail, skip
	Expected string `json:"expected"`
	Got      string `json:"got,omitempty"` // of fail and skip
}

// NewTest gives doc its schema.
func NewTest(doc Test) Test {
	doc.Schema = report.Schema("plugin.test")
	return doc
}

// WriteTest prints a line an axis for people.
func WriteTest(w io.Writer, style report.Style, doc Test) {
	for _, a := range doc.Axes {
		paint, text := style.Green, a.Expected
		switch {
		case a.Status == "skip":
			paint, text = style.Dim, fmt.Sprintf("%s (%s)", a.Expected, a.Got)
		case a.Status == "fail" && a.Level == "MUST":
			paint, text = style.Red, fmt.Sprintf("expected: %s; got: %s", a.Expected, a.Got)
		case a.Status == "fail":
			paint, text = style.Yellow, fmt.Sprintf("expected: %s; got: %s", a.Expected, a.Got)
		}
		fmt.Fprintf(w, "%s %-6s %-4s %s\n", paint(a.Status), a.Level, a.Clause, strings.Join(strings.Fields(report.Printable(text)), " "))
	}
	fmt.Fprintf(w, "%d passed, %d MUST and %d SHOULD failed in %.1f s: %s\n",
		doc.Passed, doc.Failed, doc.Missed, doc.DurationMS/1000, report.Printable(doc.Path))
}
