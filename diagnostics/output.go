package diagnostics

// Output is the output of one run of a tool, and the directories of its paths.
type Output struct {
	Stdout, Stderr []byte
	Dir            string // absolute, of the dish: relative paths start here
	Root           string // absolute, of the workspace
	Base           string // optional, absolute: where the tool's relative paths start instead, such as the root of a cargo workspace
	Module         string // optional, for go-build and go-test: import path of Dir; else go-test takes the common path of the packages in the output
	Tool           string // optional: Source of the diagnostics where the parser does not know the tool; else the parser's name
}

// ParseFunc returns the diagnostics in an output, which the parser with a name reads: diagnostics/parse.Parse.
type ParseFunc func(parser string, o Output) ([]Diagnostic, error)
