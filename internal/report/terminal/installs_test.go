package terminal

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/run"
)

// TestInstallLines: the output of a tool stays in one piece, and bento starts a new line after it.
func TestInstallLines(t *testing.T) {
	forwarded := func(stream, text string) adapters.Log {
		return adapters.Log{Level: "info", Stream: stream, Message: text, Verbatim: true}
	}
	own := func(level, text string) adapters.Log { return adapters.Log{Level: level, Message: text} }
	for _, c := range []struct {
		name    string
		verbose bool
		logs    []adapters.Log
		want    string
	}{
		{"in pieces", false, []adapters.Log{forwarded("stderr", "half, "), own("debug", "d"), forwarded("stderr", "and half\n"), own("warn", "w\n")}, "half, and half\nbento: a: w\n"},
		{"open", false, []adapters.Log{forwarded("stdout", "open"), own("warn", "w"), own("error", "e")}, "open\nbento: a: w\nbento: a: e\n"},
		{"open to the end", false, []adapters.Log{forwarded("stderr", "open"), forwarded("stderr", "")}, "open\n"},
		{"own", false, []adapters.Log{own("trace", "t"), own("debug", "d"), own("info", "i")}, ""},
		{"own, verbose", true, []adapters.Log{own("trace", "t"), own("info", "i")}, "bento: a: t\nbento: a: i\n"},
		{"of a built-in", false, []adapters.Log{{Level: "info", Stream: "stdout", Message: "fetched"}}, "fetched\n"},
	} {
		var out bytes.Buffer
		l := &Lines{Out: &out, Err: &out, Mode: Grouped, Tools: true, Verbose: c.verbose}
		i := &run.Install{Dish: "a"}
		for _, log := range c.logs {
			l.Report(run.InstallLog{Install: i, Log: log})
		}
		l.Mode = Quiet // the later lines are not tested
		l.Report(run.InstallFinished{Install: i})
		if diff := cmp.Diff(c.want, out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
