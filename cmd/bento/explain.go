package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/codes"
)

func explainCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "explain [CODE]", GroupID: "ask",
		Short:             "Say what a code means: its cause, and what to do",
		Long:              "Say what a code means that bento has printed: the rule of a problem, the reason\nof a miss or a failure, the code of a plugin's failure. Without CODE, list all.",
		Example:           "  bento explain toolchain_mismatch\n  bento explain",
		Args:              atMost(1, "bento explain takes one code"),
		ValidArgsFunction: once(codeNames),
		RunE: func(_ *cobra.Command, args []string) error {
			doc := explained{report.Schema("explain"), codes.All()}
			if len(args) == 1 {
				e, ok := codes.Find(args[0])
				if !ok {
					return notFound("unknown_code", fmt.Sprintf("bento prints no code %q", args[0]), orList(args[0], codeNames(), "bento explain lists all"))
				}
				doc.Entries = []codes.Entry{e}
			}
			if s.flags.json {
				return report.Write(s.out, doc)
			}
			doc.write(s.out, s.style, len(args) == 1)
			return nil
		},
	}
}

// explained is the document of `bento explain`.
type explained struct {
	Schema  string        `json:"schema"`
	Entries []codes.Entry `json:"entries"`
}

func (doc explained) write(w io.Writer, style report.Style, whole bool) {
	for _, e := range doc.Entries {
		if !whole {
			fmt.Fprintf(w, "%-26s %s\n", e.Code, e.Meaning)
			continue
		}
		fmt.Fprintf(w, "%s\n  %s\n  cause  %s\n  fix    %s\n", style.Bold(e.Code), e.Meaning, e.Cause, e.Fix)
	}
}

func codeNames() []string {
	var names []string
	for _, e := range codes.All() {
		names = append(names, e.Code)
	}
	return names
}

// orList gives the nearest candidates, or where to find them all.
func orList(word string, candidates []string, list string) string {
	if len(diagnostics.Nearest(word, candidates)) == 0 {
		return list
	}
	return diagnostics.Suggest(word, candidates)
}

// atMost takes up to n arguments.
func atMost(n int, message string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > n {
			return usageError(message, "")
		}
		return nil
	}
}
