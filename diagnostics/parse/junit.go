package parse

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/pattern"
)

// junit walks a report. The format has no official definition, so junit reads the parts that the tools
// have in common. https://github.com/testmoapp/junitxml
type junit struct {
	finder *finder
	suite  string // file of the suite
	test   junitTest
	text   *strings.Builder // text of the open failure
	title  string           // its message attribute
}

type junitTest struct {
	name, class, file string
	line, col         int
}

// parseJUnit reads reports in the form of JUnit's XML, wherever in the output they start.
func parseJUnit(f *finder) {
	for _, stream := range [][]byte{f.out.Stdout, f.out.Stderr} {
		text, _ := tailOf(stream)
		if i := bytes.Index(text, []byte("<testsuite")); i >= 0 {
			text = text[i:]
		} else if i := bytes.Index(text, []byte("<testcase")); i >= 0 {
			text = text[i:]
		} else {
			continue
		}
		(&junit{finder: f}).read(text)
	}
}

// read reads tags one by one without checking their nesting. So it reads a cut report up to its end.
func (j *junit) read(text []byte) {
	dec := xml.NewDecoder(bytes.NewReader(text))
	dec.Strict = false
	dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		token, err := dec.RawToken()
		if err != nil {
			return
		}
		switch t := token.(type) {
		case xml.StartElement:
			j.start(t)
		case xml.CharData:
			if j.text != nil && j.text.Len() < 2*maxMessage {
				j.text.Write(t)
			}
		case xml.EndElement:
			j.end(t.Name.Local)
		}
	}
}

func (j *junit) start(e xml.StartElement) {
	attr := func(name string) string {
		for _, a := range e.Attr {
			if a.Name.Local == name {
				return a.Value
			}
		}
		return ""
	}
	switch e.Name.Local {
	case "testsuite":
		j.suite = attr("file")
		if name := attr("name"); j.suite == "" && strings.Contains(name, "/") && looksLikeFile(name, true) {
			j.suite = name
		}
	case "testcase":
		j.test = junitTest{name: attr("name"), class: attr("classname"), file: attr("file"), line: number(attr("line")), col: number(attr("column"))}
	case "failure", "error":
		j.text, j.title = new(strings.Builder), attr("message")
	}
}

func (j *junit) end(name string) {
	switch name {
	case "failure", "error":
		if j.text != nil {
			j.failed(j.text.String())
		}
		j.text = nil
	case "testcase":
		j.test = junitTest{}
	}
}

func (j *junit) failed(text string) {
	title := strings.TrimSpace(j.title)
	if title == "" {
		title = strings.TrimSpace(text)
	}
	d := diagnostics.Diagnostic{Severity: diagnostics.Error, Message: title}
	if d.Rule = j.rule(); d.Rule == "" {
		d.Message = strings.TrimPrefix(j.test.name+": ", ": ") + title
	}
	d.File, d.Line, d.Col = j.place(text)
	j.finder.add(d)
}

// rule returns the linter's name in a test.
func (j *junit) rule() string {
	if m := junitName.FindStringIndex(j.test.name); m != nil {
		return j.test.name[:m[0]]
	}
	if rule, ok := strings.CutPrefix(j.test.name, "org.ruff."); ok {
		return rule
	}
	return ""
}

var (
	junitPlace = pattern.New(`(?:file://)?((?:[A-Za-z]:)?[\w./\\@+-]*[\w-]\.[A-Za-z]\w{0,7}):(\d+)(?::(\d+))?`)
	junitName  = pattern.New(` at (\S.*) \((\d+):(\d+)\)$`)
	javaSource = pattern.New(`^[^/\\]+\.(java|kt|groovy|scala)$`)
)

// place finds where a test failed: in its name (PHP_CodeSniffer), by attributes with a
// column (ruff), in the text if that names the test's own file, by attributes, and anywhere
// in the text.
func (j *junit) place(text string) (file string, line, col int) {
	if m := junitName.FindStringSubmatch(j.test.name); m != nil {
		return m[1], number(m[2]), number(m[3])
	}
	own := j.test.file
	if own == "" {
		own = j.suite
	}
	if own != "" && j.test.col > 0 {
		return own, j.test.line, j.test.col
	}
	found := j.inText(text, own)
	if found == nil && own != "" {
		return own, j.test.line, 0
	}
	if found != nil {
		return found[1], number(found[2]), number(found[3])
	}
	file, line = sourceOfStack(j.test.class, text)
	return file, line, 0
}

// inText returns the last place in text in the file own; if that is unknown, in the
// workspace.
func (j *junit) inText(text, own string) []string {
	var last []string
	f := j.finder
	for _, m := range junitPlace.FindAllStringSubmatch(text, 100) {
		bare := javaSource.MatchString(m[1]) // in a Java stack, files have no directory
		if own != "" && f.place(f.base(), m[1]) != f.place(f.base(), own) || own == "" && (bare || !f.ours(m[1])) {
			continue
		}
		last = m
		if own == "" && strings.Contains(text, "\n    at ") { // a stack of JavaScript starts with the innermost frame
			break
		}
	}
	return last
}
