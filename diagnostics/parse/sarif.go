package parse

import (
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/diagnostics/parse/raw"
)

// sarifRun is one run of a SARIF 2.1.0 log.
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
type sarifRun struct {
	Tool struct {
		Driver struct{ Name string }
	}
	OriginalURIBaseIDs map[string]struct{ URI string } `json:"originalUriBaseIds"`
	Results            []struct {
		RuleID    string
		Level     string
		Kind      string
		Message   struct{ Text string }
		Locations []struct {
			PhysicalLocation struct {
				ArtifactLocation struct{ URI, URIBaseID string }
				Region           struct{ StartLine, StartColumn, EndLine, EndColumn int }
			}
		}
	}
}

// parseSARIF reads SARIF logs. A result that passed is none.
func parseSARIF(f *finder) {
	type log struct{ Runs []sarifRun }
	for doc := range raw.Documents(`{"$schema"`, f.out.Stdout, f.out.Stderr) {
		for _, l := range raw.Each[log](doc) {
			for _, run := range l.Runs {
				f.addSARIF(run)
			}
		}
	}
}

func (f *finder) addSARIF(run sarifRun) {
	for _, r := range run.Results {
		if len(r.Locations) == 0 || r.Kind == "pass" || r.Kind == "notApplicable" {
			continue
		}
		at := r.Locations[0].PhysicalLocation
		region := at.Region
		if region.EndLine == 0 {
			region.EndLine = region.StartLine
		}
		base := raw.Slashed(run.OriginalURIBaseIDs[at.ArtifactLocation.URIBaseID].URI)
		if !raw.Absolute(base) {
			base = f.base()
		}
		f.addAt(base, diagnostics.Diagnostic{File: raw.FromURI(at.ArtifactLocation.URI), Line: region.StartLine, Col: region.StartColumn,
			EndLine: region.EndLine, EndCol: region.EndColumn, Severity: severityOf(r.Level, diagnostics.Warning),
			Message: r.Message.Text, Rule: r.RuleID, Source: run.Tool.Driver.Name})
	}
}
