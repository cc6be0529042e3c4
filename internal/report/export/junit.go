package export

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
)

// The elements of a JUnit report on which its readers agree
// (https://github.com/testmoapp/junitxml).
type junitSuites struct {
	XMLName  xml.Name      `xml:"testsuites"`
	Name     string        `xml:"name,attr"`
	Tests    int           `xml:"tests,attr"`
	Failures int           `xml:"failures,attr"`
	Skipped  int           `xml:"skipped,attr"`
	Time     string        `xml:"time,attr"`
	Suites   []*junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name      string      `xml:"name,attr"`
	Tests     int         `xml:"tests,attr"`
	Failures  int         `xml:"failures,attr"`
	Skipped   int         `xml:"skipped,attr"`
	Time      string      `xml:"time,attr"`
	Timestamp string      `xml:"timestamp,attr"`
	Cases     []junitCase `xml:"testcase"`

	took time.Duration
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitMessage `xml:"failure,omitempty"`
	Skipped *junitMessage `xml:"skipped,omitempty"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit writes a run as JUnit XML: a suite for each dish, a case for each task.
func JUnit(w io.Writer, r *run.Report) error {
	doc := junitSuites{Name: "bento", Tests: len(r.Results), Failures: r.Count(run.Failed), Skipped: r.Count(run.Skipped), Time: secondsOf(r.Duration)}
	suites := make(map[string]*junitSuite)
	for _, res := range r.Results {
		name := res.Task.Dish.Name
		s := suites[name]
		if s == nil {
			s = &junitSuite{Name: name, Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05")}
			suites[name] = s
			doc.Suites = append(doc.Suites, s)
		}
		s.add(res)
	}
	for _, s := range doc.Suites {
		s.Time = secondsOf(s.took)
	}
	return doc.write(w)
}

// JUnitOfPlugin writes the results of `bento plugin test`: a case for each clause and fixture. A
// failed SHOULD is no failure.
func JUnitOfPlugin(w io.Writer, t report.PluginTest) error {
	took := fmt.Sprintf("%.3f", t.DurationMS/1000)
	s := &junitSuite{Name: t.ID, Time: took, Tests: len(t.Axes), Failures: t.Failed}
	for _, a := range t.Axes {
		c := junitCase{Name: a.Clause + " " + a.Expected, Class: t.ID, Time: "0.000"}
		text := strings.TrimSpace(a.Got + "\n" + a.Place + "\n" + strings.Join(a.Frames, "\n"))
		switch {
		case a.Status == "fail" && a.Level == "MUST":
			c.Failure = &junitMessage{Message: a.Got, Type: a.Level, Text: text}
		case a.Status == "fail":
			c.Output = text
		case a.Status == "skip":
			s.Skipped++
			c.Skipped = &junitMessage{Message: a.Got}
		}
		s.Cases = append(s.Cases, c)
	}
	doc := junitSuites{Name: "bento plugin test", Tests: s.Tests, Failures: s.Failures, Skipped: s.Skipped, Time: took, Suites: []*junitSuite{s}}
	return doc.write(w)
}

func (doc *junitSuites) write(w io.Writer) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *junitSuite) add(r *run.Result) {
	c := junitCase{Name: r.Task.Name, Class: r.Task.Dish.Name, Time: secondsOf(r.Duration)}
	switch r.Outcome {
	case run.Failed:
		s.Failures++
		c.Failure = &junitMessage{Message: r.Message, Type: r.Reason, Text: report.Excerpt(r)}
	case run.Skipped:
		s.Skipped++
		c.Skipped = &junitMessage{Message: r.Reason}
	case run.CacheHit:
		c.Output = "from the cache"
	}
	s.Tests++
	s.took += r.Duration
	s.Cases = append(s.Cases, c)
}

func secondsOf(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
