package report

import (
	"fmt"
	"io"
)

// Artifacts is the document of `bento artifacts`.
type Artifacts struct {
	Schema  string        `json:"schema"`
	Entries []Artifact    `json:"entries"`
	Copied  string        `json:"copied_to,omitempty"`
	Summary ArtifactCount `json:"summary"`
}

// ArtifactCount counts the files of a list.
type ArtifactCount struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
}

// Artifact is an existing output of a task.
type Artifact struct {
	Dish   string `json:"dish"`
	Task   string `json:"task"`
	Path   string `json:"path"` // from the workspace
	Kind   string `json:"kind" enum:"file,link,directory"`
	Digest string `json:"digest,omitempty"` // of a file
	Size   int64  `json:"size"`
	Exec   bool   `json:"executable,omitempty"`
	Target string `json:"target,omitempty"` // of a link
}

// Add adds an output to the list.
func (doc *Artifacts) Add(a Artifact) {
	if a.Kind == "file" {
		doc.Summary.Files++
		doc.Summary.Bytes += a.Size
	}
	doc.Entries = append(doc.Entries, a)
}

// WriteArtifacts prints the list for people.
func WriteArtifacts(w io.Writer, style Style, doc Artifacts) {
	last := ""
	for _, a := range doc.Entries {
		if id := a.Dish + ":" + a.Task; id != last {
			fmt.Fprintln(w, style.Bold(PrintableLine(id)))
			last = id
		}
		what := a.Digest[:min(12, len(a.Digest))]
		if a.Kind != "file" {
			what = a.Kind
		}
		line := fmt.Sprintf("  %-12s %10s  %s", what, ByteSize(a.Size), PrintableLine(a.Path))
		if a.Target != "" {
			line += " -> " + PrintableLine(a.Target)
		}
		fmt.Fprintln(w, line)
	}
	fmt.Fprintf(w, "%s, %s", Count(doc.Summary.Files, "file"), ByteSize(doc.Summary.Bytes))
	if doc.Copied != "" {
		fmt.Fprintf(w, ", copied to %s", PrintableLine(doc.Copied))
	}
	fmt.Fprintln(w)
}

// Cleaned is the document of `bento clean`.
type Cleaned struct {
	Schema string   `json:"schema"`
	DryRun bool     `json:"dry_run"`
	Paths  []string `json:"paths"` // removed, or to be removed
	Kept   []string `json:"kept"`  // outputs that git tracks
	Left   []string `json:"left"`  // files that no recorded run has made
	Files  int      `json:"files"`
	Bytes  int64    `json:"bytes"`
}

// maxLeft is the maximal number of remaining files that WriteCleaned names.
const maxLeft = 20

// WriteCleaned prints the document for people.
func WriteCleaned(w io.Writer, _ Style, doc Cleaned) {
	word := "removed"
	if doc.DryRun {
		word = "would remove"
		for _, p := range doc.Paths {
			fmt.Fprintln(w, PrintableLine(p))
		}
	}
	fmt.Fprintf(w, "%s %s, %s", word, Count(doc.Files, "file"), ByteSize(doc.Bytes))
	if len(doc.Kept) > 0 {
		fmt.Fprintf(w, "; not removed, tracked by git: %s", Count(len(doc.Kept), "file"))
	}
	fmt.Fprintln(w)
	for _, p := range doc.Left[:min(len(doc.Left), maxLeft)] {
		fmt.Fprintf(w, "left: no recorded run made %s\n", PrintableLine(p))
	}
	if more := len(doc.Left) - maxLeft; more > 0 {
		fmt.Fprintf(w, "left: %s more\n", Count(more, "file"))
	}
}
