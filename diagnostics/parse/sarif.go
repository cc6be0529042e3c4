package parse

import (
	"github.com/bentobuild/bento/diagnostics"
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

// parseSARIF reads SARIF logs. It leaves out results that passed.
func parseSARIF(f *finder) {
	type log struct{ Runs []sarifRun }
	for doc := range documents(`{"$schema"`, f.out.Stdout, f.out.Stderr) {
		for _, l := range eachOf[log](doc) {
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
		base := slashed(run.OriginalURIBaseIDs[at.ArtifactLocation.URIBaseID].URI)
		if !absolute(base) {
			base = f.base()
		}
		f.addAt(base, diagnostics.Diagnostic{File: fromURI(at.ArtifactLocation.URI), Line: region.StartLine, Col: region.StartColumn,
			EndLine: region.EndLine, EndCol: region.EndColumn, Severity: severityOf(r.Level, diagnostics.Warning),
			Message: r.Message.Text, Rule: r.RuleID, Source: run.Tool.Driver.Name})
	}
}
