package report

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
)

// PluginList is the document of `bento plugin list`.
type PluginList struct {
	Schema  string      `json:"schema"`
	Plugins []PluginRow `json:"plugins"`
}

// PluginRow is one executable that was found on PATH, or an adapter that the workspace defines.
type PluginRow struct {
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

// NewPluginList makes the document of plugins in the order of PATH.
func NewPluginList(list []PluginRow) PluginList {
	return PluginList{Schema: Schema("plugin.list"), Plugins: list}
}

// WritePluginList prints plugins for people.
func WritePluginList(w io.Writer, style Style, doc PluginList) {
	if len(doc.Plugins) == 0 {
		fmt.Fprintln(w, "no bento-adapter-* on PATH")
		return
	}
	for _, p := range doc.Plugins {
		writePluginRow(w, style, p, "loaded")
	}
}

// writePluginRow prints one row of a list of plugins or tools. good is the status of a usable one.
func writePluginRow(w io.Writer, style Style, p PluginRow, good string) {
	paint := style.Green
	if p.Status != good {
		paint = style.Yellow
	}
	fmt.Fprintf(w, "%s %-16s %s\n", paint(fmt.Sprintf("%-11s", p.Status)), Printable(p.ID), Printable(p.Path))
	if p.DisplayName != "" {
		fmt.Fprintf(w, "            %s\n", style.Dim(Printable(p.DisplayName)))
	}
	if p.Message != "" {
		fmt.Fprintf(w, "            %s\n", Indent(Printable(p.Message)))
	}
}

// PluginInfo is the document of `bento plugin info`.
type PluginInfo struct {
	Schema string `json:"schema"`
	PluginRow
	Fingerprint string             `json:"fingerprint,omitempty"` // of its toolchain
	Manifest    *adapters.Manifest `json:"manifest"`
	Asked       []PluginAnswer     `json:"asked"`
}

// PluginAnswer is one request to a plugin and its answer.
type PluginAnswer struct {
	Method     string          `json:"method"`
	Params     json.RawMessage `json:"params,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"`
	Error      *PluginError    `json:"error,omitempty"` // in place of a result
	DurationMS float64         `json:"duration_ms"`
}

// NewPluginInfo makes the document of a plugin and its manifest.
func NewPluginInfo(p PluginRow, m *adapters.Manifest) PluginInfo {
	return PluginInfo{Schema: Schema("plugin.info"), PluginRow: p, Manifest: m}
}

// WritePluginInfo prints a plugin for people.
func WritePluginInfo(w io.Writer, style Style, doc PluginInfo) {
	m := doc.Manifest
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "%-13s %s\n", name, Indent(Printable(text)))
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

// clip returns the beginning of a JSON text.
func clip(text json.RawMessage) string {
	if most := 200; len(text) > most {
		return strings.ToValidUTF8(string(text[:most]), "") + "…"
	}
	return string(text)
}

// offered returns the names of the capabilities that are set.
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

// PluginCall is the document of `bento plugin call`.
type PluginCall struct {
	Schema     string          `json:"schema"`
	ID         string          `json:"id"`
	Method     string          `json:"method"`
	Result     json.RawMessage `json:"result,omitempty"`
	Error      *PluginError    `json:"error,omitempty"` // in place of a result
	Wrong      string          `json:"wrong,omitempty"` // how the result differs from the contract
	DurationMS float64         `json:"duration_ms"`
}

// PluginError is an error that a plugin answered with.
type PluginError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// NewPluginCall makes the document of a call with its duration.
func NewPluginCall(id, method string, took time.Duration) PluginCall {
	return PluginCall{Schema: Schema("plugin.call"), ID: id, Method: method, DurationMS: float64(took.Microseconds()) / 1000}
}

// PluginTest is the document of `bento plugin test`.
type PluginTest struct {
	Schema     string       `json:"schema"`
	ID         string       `json:"id"` // the announced id, "" for none
	Path       string       `json:"path"`
	Axes       []PluginAxis `json:"axes"`
	Passed     int          `json:"passed"`
	Failed     int          `json:"failed"` // of level MUST
	Missed     int          `json:"missed"` // of level SHOULD
	DurationMS float64      `json:"duration_ms"`
}

// PluginAxis is the result of one clause of the contract.
type PluginAxis struct {
	Clause   string `json:"clause"` // of docs/PROTOCOL.md, or the directory of a fixture
	Level    string `json:"level"`  // MUST, SHOULD
	Status   string `json:"status"` // pass, fail, skip
	Expected string `json:"expected"`
	Got      string `json:"got,omitempty"` // of fail and skip

	Place  string   `json:"place,omitempty"`  // of the expected answer of a fixture
	Frames []string `json:"frames,omitempty"` // of fail: the last messages, "> " those of bento
}

// NewPluginTest sets the schema of doc and returns it.
func NewPluginTest(doc PluginTest) PluginTest {
	doc.Schema = Schema("plugin.test")
	return doc
}

// WritePluginTest prints a line for each axis for people.
func WritePluginTest(w io.Writer, style Style, doc PluginTest) {
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
		fmt.Fprintf(w, "%s %-6s %-4s %s\n", paint(a.Status), a.Level, Printable(a.Clause), strings.Join(strings.Fields(Printable(text)), " "))
		if a.Status == "fail" && a.Place != "" {
			fmt.Fprintf(w, "     %s\n", Printable(a.Place))
		}
		for _, frame := range a.Frames {
			fmt.Fprintf(w, "     %s\n", style.Dim(Printable(frame)))
		}
	}
	fmt.Fprintf(w, "%s: %d passed, %d MUST and %d SHOULD failed in %.1f s: %s\n",
		PrintableLine(doc.ID), doc.Passed, doc.Failed, doc.Missed, doc.DurationMS/1000, Printable(doc.Path))
}
