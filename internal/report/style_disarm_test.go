package report

import "testing"

// A printed text of a tool or plugin is no command to the CI service that reads the output.
func TestPrintableIsNoWorkflowCommand(t *testing.T) {
	for in, want := range map[string]string{
		"a\n::error::b":                     "a\n: :error::b",
		"::add-mask::b":                     ": :add-mask::b",
		"a\n \t\u00a0::stop-commands::x":    "a\n \t\u00a0: :stop-commands::x",
		"a\n\u200b\ufeff\x1b::warning::x":   "a\n���: :warning::x",
		"a\r::error::b":                     "a\ufffd::error::b", // one line, which begins with "a"
		"it says ##[error]x and ##[group]y": "it says ## [error]x and ## [group]y",
		"std::vector: a::b::c":              "std::vector: a::b::c",
		"a\n:::error::":                     "a\n: ::error::",
	} {
		if got := Printable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
