// Package export writes the results of a run in the formats of other programs:
// JUnit XML, SARIF, Chrome's trace events, and the commands of GitHub Actions.
package export

import (
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/run"
)

// The objects of SARIF 2.1.0 that are used here
// (https://docs.oasis-open.org/sarif/sarif/v2.1.0/).
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool    sarifTool     `json:"tool"`
	Bases   sarifBases    `json:"originalUriBaseIds"`
	Results []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version,omitempty"`
	Rules   []sarifRule `json:"rules,omitempty"`
}

type sarifRule struct {
	ID string `json:"id"`
}

type sarifBases struct {
	Root sarifText `json:"ROOT"`
}

type sarifResult struct {
	Rule      string          `json:"ruleId,omitempty"`
	Level     string          `json:"level"`
	Message   sarifMessage    `json:"message"`
	Locations []sarifLocation `json:"locations,omitempty"`
}

type sarifMessage struct {
	Text string `json:"text"`
}

type sarifText struct {
	Description sarifMessage `json:"description"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI  string `json:"uri"`
	Base string `json:"uriBaseId"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
	StartCol  int `json:"startColumn,omitempty"`
	EndLine   int `json:"endLine,omitempty"`
	EndCol    int `json:"endColumn,omitempty"`
}

// SARIF writes the diagnostics of a run as a SARIF 2.1.0 log. The log has a run for each tool with diagnostics, and
// one for bento itself.
func SARIF(w io.Writer, r *run.Report, version string) error {
	byTool := map[string][]diagnostics.Diagnostic{diagnostics.Source: slices.Clone(r.Warnings)}
	for _, d := range Diagnostics(r) {
		byTool[d.Source] = append(byTool[d.Source], d)
	}
	return writeSARIF(w, byTool, version)
}

// SARIFOf writes diagnostics of bento itself as a SARIF 2.1.0 log.
func SARIFOf(w io.Writer, list []diagnostics.Diagnostic, version string) error {
	return writeSARIF(w, map[string][]diagnostics.Diagnostic{diagnostics.Source: list}, version)
}

func writeSARIF(w io.Writer, byTool map[string][]diagnostics.Diagnostic, version string) error {
	doc := sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0"}
	tools := make([]string, 0, len(byTool))
	for tool := range byTool {
		tools = append(tools, tool)
	}
	slices.Sort(tools)
	for _, tool := range tools {
		one := sarifOf(tool, diagnostics.Sorted(byTool[tool]))
		if tool == diagnostics.Source {
			one.Tool.Driver.Version = version
		}
		doc.Runs = append(doc.Runs, one)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}

// Diagnostics returns the findings of the tasks of a run, each once.
func Diagnostics(r *run.Report) []diagnostics.Diagnostic {
	var all []diagnostics.Diagnostic
	for _, res := range r.Results {
		all = append(all, res.Diagnostics...)
	}
	return diagnostics.Sorted(all)
}

func sarifOf(tool string, list []diagnostics.Diagnostic) sarifRun {
	one := sarifRun{Tool: sarifTool{Driver: sarifDriver{Name: tool}}, Results: []sarifResult{}}
	one.Bases.Root.Description.Text = "the root of the workspace"
	var rules []string
	for _, d := range list {
		one.Results = append(one.Results, sarifResultOf(d))
		if d.Rule != "" {
			rules = append(rules, d.Rule)
		}
	}
	slices.Sort(rules)
	for _, id := range slices.Compact(rules) {
		one.Tool.Driver.Rules = append(one.Tool.Driver.Rules, sarifRule{ID: id})
	}
	return one
}

func sarifResultOf(d diagnostics.Diagnostic) sarifResult {
	res := sarifResult{Rule: d.Rule, Level: sarifLevel(d.Severity), Message: sarifMessage{Text: strings.ToValidUTF8(d.Message, "�")}}
	if d.File == "" {
		return res
	}
	at := sarifPhysical{Artifact: sarifArtifact{URI: (&url.URL{Path: d.File}).EscapedPath(), Base: "ROOT"}}
	if d.Line > 0 {
		at.Region = &sarifRegion{StartLine: d.Line, StartCol: d.Col, EndLine: d.EndLine, EndCol: d.EndCol}
	}
	res.Locations = []sarifLocation{{Physical: at}}
	return res
}

func sarifLevel(s diagnostics.Severity) string {
	switch s {
	case diagnostics.Error:
		return "error"
	case diagnostics.Warning:
		return "warning"
	}
	return "note"
}
