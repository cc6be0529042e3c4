package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/state"
)

// The workspace's state has the document of the last run that executed a task, that of the last run of hits alone, and
// a row for each of the last runs.
const (
	lastFile    = "last-run"
	hitsFile    = "last-hits"
	runsFile    = "runs"
	lastVersion = 1
	mostRuns    = 50
)

func lastCommand(s *session) *cobra.Command {
	var findings bool
	count := 0
	cmd := &cobra.Command{
		Use: "last [DISH:TASK]", GroupID: "ask",
		Annotations: traits{Reads: true}.annotations(),
		Short:       "Summarise the last run, or print the log of one of its tasks",
		Long:        "Summarise the last run: the slowest tasks, the critical path, the failures. If it had\nonly hits, also summarise the last one that executed tasks. With DISH:TASK, print the\nlog of that task, also of a hit; with --findings, what the tools have found; with -n,\nlist the last runs.",
		Example:     "  bento last\n  bento last api:test\n  bento last --findings --json\n  bento last -n 5",
		Args:        atMost(1, "bento last takes one DISH:TASK"),
		RunE: func(cmd *cobra.Command, args []string) error {
			listed := cmd.Flags().Changed("number")
			switch {
			case len(args) == 1 && findings:
				return usageError("bento last takes DISH:TASK or --findings, not both", "")
			case listed && (findings || len(args) == 1):
				return usageError("bento last -n lists runs, so it takes neither DISH:TASK nor --findings", "")
			case listed && count < 1:
				return usageError(fmt.Sprintf("bento last -n %d lists no run", count), "the number is 1 or more")
			}
			docs, err := s.lastRuns()
			if err != nil {
				return err
			}
			switch {
			case listed:
				return s.listRuns(docs, count)
			case findings:
				return show(s, report.NewFindings(docs[0]), report.WriteAllFindings)
			case len(args) == 1:
				return s.printLog(cmd.Context(), docs, args[0])
			case s.flags.json:
				return report.Write(s.out, docs[0])
			}
			report.WriteLast(s.out, s.style, docs, time.Now())
			return nil
		},
	}
	cmd.Flags().BoolVar(&findings, "findings", false, "print what the tools have found, and nothing else")
	cmd.Flags().IntVarP(&count, "number", "n", 0, fmt.Sprintf("list the last `N` runs, at most %d", mostRuns))
	return cmd
}

// keepLast stores the document of a run and its row. A run of the same hits as the run before it writes nothing, as it
// promises.
func keepLast(st *state.Dir, r *run.Report, line string, doc func() *report.Run) error {
	file, same := lastFile, []byte(nil)
	if r.Idle() {
		file, same = hitsFile, digestOf(r, line)
	}
	rows, _ := st.Load(runsFile, lastVersion) // a damaged file is as good as none
	if same != nil && bytes.HasPrefix(rows, same) {
		return nil
	}
	data, err := json.Marshal(doc())
	if err == nil {
		err = st.Store(file, lastVersion, data)
	}
	if err == nil {
		err = keepRow(st, rows, same, doc().Row())
	}
	if r.Idle() {
		return nil // such a run succeeds also where it cannot write
	}
	return err
}

// digestOf returns the digest of the command line and the keys of a run.
func digestOf(r *run.Report, line string) []byte {
	h := sha256.New()
	io.WriteString(h, line) //nolint:errcheck // a hash
	for _, res := range r.Results {
		h.Write(res.Key[:])
	}
	return h.Sum(nil)
}

// keepRow stores the rows of the last runs with a further one, after the digest of a run of hits, or zeros.
func keepRow(st *state.Dir, old, digest []byte, row report.RunRow) error {
	rows := append(runRows(old), row)
	data, err := json.Marshal(rows[max(0, len(rows)-mostRuns):])
	if err != nil {
		return err
	}
	head := make([]byte, sha256.Size)
	copy(head, digest)
	return st.Store(runsFile, lastVersion, head, data)
}

func runRows(data []byte) (rows []report.RunRow) {
	if len(data) > sha256.Size {
		_ = json.Unmarshal(data[sha256.Size:], &rows) // a damaged file is as good as none
	}
	return rows
}

// listRuns prints the last runs, the newest first.
func (s *session) listRuns(docs []*report.Run, count int) error {
	root, _, err := s.root()
	if err != nil {
		return err
	}
	data, _ := state.Open(root).Load(runsFile, lastVersion)
	rows := runRows(data)
	if len(rows) == 0 {
		rows = []report.RunRow{docs[0].Row()}
	}
	slices.Reverse(rows)
	return show(s, report.NewRuns(rows[:min(count, len(rows))]), func(w io.Writer, style report.Style, doc report.Runs) {
		report.WriteRuns(w, style, doc, time.Now())
	})
}

// lastRuns returns the documents of the last run, and if that had only hits, of the last one that executed tasks. It
// returns at least one.
func (s *session) lastRuns() ([]*report.Run, error) {
	root, _, err := s.root()
	if err != nil {
		return nil, err
	}
	st := state.Open(root)
	executed, err := loadRun(st, lastFile)
	var refused *state.RefusedError
	if errors.As(err, &refused) {
		return nil, err
	}
	hits, hitsErr := loadRun(st, hitsFile)
	switch {
	case err != nil && hitsErr != nil:
		return nil, notFound("no_run", "no run is recorded in "+root, "run bento run build")
	case hitsErr != nil || err == nil && executed.StartedAt.After(hits.StartedAt):
		return []*report.Run{executed}, nil
	case err != nil:
		return []*report.Run{hits}, nil
	}
	return []*report.Run{hits, executed}, nil
}

func loadRun(st *state.Dir, file string) (*report.Run, error) {
	data, err := st.Load(file, lastVersion)
	if err != nil {
		return nil, err
	}
	doc := new(report.Run)
	return doc, json.NewDecoder(bytes.NewReader(data)).Decode(doc)
}
