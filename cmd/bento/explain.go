package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/docs"
	"github.com/bentobuild/bento/internal/report"
)

func explainCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "explain [CODE]", GroupID: "ask",
		Annotations:       traits{Reads: true}.annotations(),
		Short:             "Explain a code: its meaning, its cause, and what to do",
		Long:              "Explain a code that bento printed: the rule of a problem, the reason of a miss or a\nfailure, or the code of a plugin's failure. Without CODE, list all codes.\nA clause of the contract of plugins or tools, as in \"3.1\", is a code too.",
		Example:           "  bento explain toolchain_mismatch\n  bento explain 3.1\n  bento explain",
		Args:              atMost(1, "bento explain takes one code"),
		ValidArgsFunction: once(codeNames),
		RunE: func(_ *cobra.Command, args []string) error {
			doc := report.Explained{Schema: report.Schema("explain"), Entries: report.Codes()}
			if len(args) == 1 {
				e, ok := report.FindCode(args[0])
				if c, is := docs.FindClause(args[0]); !ok && is {
					e, ok = ofClause(c), true
				}
				if !ok {
					return notFound("unknown_code", fmt.Sprintf("bento prints no code %q", args[0]), orList(args[0], codeNames(), "bento explain lists all"))
				}
				doc.Entries = []report.Code{e}
			}
			if s.flags.json {
				return report.Write(s.out, doc)
			}
			report.WriteExplained(s.out, s.style, doc, len(args) == 1)
			return nil
		},
	}
}

// ofClause describes a clause of a contract of plugins and tools.
func ofClause(c docs.Clause) report.Code {
	return report.Code{
		Code: c.Number, Meaning: c.Text, Cause: fmt.Sprintf("the contract, %s (%s)", c.Page, c.Binds),
		Fix: "bento plugin test, or bento tool test, shows the messages of the test that failed",
	}
}

func codeNames() []string {
	var names []string
	for _, e := range report.Codes() {
		names = append(names, e.Code)
	}
	return names
}

// orList returns a hint: the candidates near to word, or else list, which names the command that lists all.
func orList(word string, candidates []string, list string) string {
	if len(diagnostics.Nearest(word, candidates)) == 0 {
		return list
	}
	return diagnostics.Suggest(word, candidates)
}

// atMost takes up to n arguments.
func atMost(n int, message string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return usageError(message, "see "+cmd.CommandPath()+" --help")
		}
		return nil
	}
}
