package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// event is a line of `go test -json`.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // seconds
}

// reader holds the output of the tests that have not ended. It keeps no output of passed tests.
type reader struct {
	out, times, lacks io.Writer
	held              map[string]*run1 // by package
}

// run1 is the run of one package's tests.
type run1 struct {
	order   []string           // of the tests that have printed something, "" for the package
	printed map[string]*output // by test
	parents map[string]bool    // tests that have subtests
}

// output is the output of a test, up to maxOutput bytes.
type output struct {
	text strings.Builder
	cut  bool
}

const maxOutput = 1 << 20

func newReader(out, times io.Writer) *reader {
	return &reader{out: out, times: times, lacks: io.Discard, held: make(map[string]*run1)}
}

// read handles all lines until the end of in.
func (r *reader) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			r.line(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// line handles one line. A line that is not an event is from the go command itself.
func (r *reader) line(text string) {
	var e event
	if err := json.Unmarshal([]byte(text), &e); err != nil || e.Action == "" {
		fmt.Fprint(r.out, text)
		return
	}
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "output":
		r.of(e.Package).add(e.Test, e.Output)
	case "run":
		r.of(e.Package).begin(e.Test)
	case "pass", "fail", "skip":
		r.end(e)
	}
}

func (r *reader) of(pkg string) *run1 {
	if r.held[pkg] == nil {
		r.held[pkg] = &run1{printed: make(map[string]*output), parents: make(map[string]bool)}
	}
	return r.held[pkg]
}

func (p *run1) begin(test string) {
	for i := range test {
		if test[i] == '/' {
			p.parents[test[:i]] = true
		}
	}
}

func (p *run1) add(test, text string) {
	o := p.printed[test]
	if o == nil {
		o = &output{}
		p.printed[test] = o
		p.order = append(p.order, test)
	}
	switch {
	case o.text.Len() < maxOutput:
		o.text.WriteString(text)
	case !o.cut:
		o.cut = true
		o.text.WriteString("… (cut)\n")
	}
}

// lacks returns the tool of the first line "… TOOL is not installed", "" for none.
func (o *output) lacks() string {
	if o == nil {
		return ""
	}
	for line := range strings.Lines(o.text.String()) {
		if before, ok := strings.CutSuffix(strings.TrimSpace(line), " is not installed"); ok {
			return before[strings.LastIndexByte(before, ' ')+1:]
		}
	}
	return ""
}

// end handles the end of a test, or of a package.
func (r *reader) end(e event) {
	p := r.of(e.Package)
	if e.Test == "" {
		p.tell(r.out, e.Action)
		delete(r.held, e.Package)
		return
	}
	if !p.parents[e.Test] {
		fmt.Fprintf(r.times, "%.2f\t%s\t%s\n", e.Elapsed, e.Package, e.Test)
	}
	if e.Action == "fail" {
		return
	}
	if tool := p.printed[e.Test].lacks(); e.Action == "skip" && tool != "" {
		fmt.Fprintf(r.lacks, "%s\t%s\t%s\n", tool, e.Package, e.Test)
	}
	delete(p.printed, e.Test)
	p.order = slices.DeleteFunc(p.order, func(test string) bool { return test == e.Test })
}

// tell prints the outcome of a package. If it failed, tell first prints the output of all tests that
// failed or had not ended; if not, only the summary line.
func (p *run1) tell(out io.Writer, action string) {
	if action == "fail" {
		for _, test := range p.order {
			if test != "" {
				io.WriteString(out, p.printed[test].text.String())
			}
		}
	}
	o := p.printed[""]
	if o == nil {
		return
	}
	for line := range strings.Lines(o.text.String()) {
		if action == "fail" || strings.HasPrefix(line, "ok") {
			io.WriteString(out, line)
		}
	}
}
