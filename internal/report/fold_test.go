package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/key"
)

// TestFold: on a terminal a problem has the prefix once, and breaks at words; in a log every line has the prefix.
func TestFold(t *testing.T) {
	problem := diagnostics.Pos{File: "a/dish.toml", Line: 3, Col: 1}.Error("x", "a long message that has to be broken somewhere").WithHint("a hint with https://example.com/a/word/that/is/wider/than/the/terminal/is in it")
	tests := []struct {
		columns int
		want    string
	}{
		{0, "bento: error: a/dish.toml:3:1: a long message that has to be broken somewhere\nbento:   a hint with https://example.com/a/word/that/is/wider/than/the/terminal/is in it\n"},
		{50, "bento: error: a/dish.toml:3:1: a long message that\n         has to be broken somewhere\n         a hint with\n           https://example.com/a/word/that/is/wider/than/the/terminal/is\n           in it\n"},
		{20, "bento: error: a/dish.toml:3:1: a long message that has to be broken somewhere\n         a hint with https://example.com/a/word/that/is/wider/than/the/terminal/is in it\n"},
	}
	for _, test := range tests {
		style := Style{}
		if test.columns > 0 {
			style.Columns = func() int { return test.columns }
		}
		var out bytes.Buffer
		WriteProblems(&out, style, []diagnostics.Diagnostic{problem})
		if out.String() != test.want {
			t.Errorf("%d columns: %s", test.columns, &out)
		}
		colored := bytes.Buffer{}
		style.Color = true
		WriteProblems(&colored, style, []diagnostics.Diagnostic{problem})
		if plain := strings.NewReplacer("\x1b[31m", "", "\x1b[0m", "").Replace(colored.String()); plain != test.want {
			t.Errorf("%d columns in colour: %q", test.columns, plain)
		}
	}
	var out bytes.Buffer
	WriteError(&out, Style{Columns: func() int { return 40 }}, errors.New(strings.Repeat("word ", 20)))
	for line := range strings.Lines(out.String()) {
		if len(line) > 41 || strings.Count(out.String(), "bento:") != 1 {
			t.Errorf("%q", out.String())
		}
	}
}

// TestPlanFits: on a terminal a line of a plan breaks at words; a file or another program gets whole lines.
func TestPlanFits(t *testing.T) {
	language := "go"
	task := planTask{Name: "build", Run: "go build -trimpath -buildvcs=false -o bin/lunchbox .", Status: "cache_miss", MissReason: key.MissNeverCached}
	doc := Plan{Bentos: []bentoOf[planDish]{{Dishes: []planDish{{dishHead: dishHead{Name: "api", Path: "api", Language: &language}, Tasks: []planTask{task}}}}}}
	for columns, want := range map[int]string{
		0:  "  run  build    go build -trimpath -buildvcs=false -o bin/lunchbox .  no good run yet\n",
		60: "  run  build    go build -trimpath -buildvcs=false -o\n    bin/lunchbox .  no good run yet\n",
	} {
		style := Style{}
		if columns > 0 {
			style.Columns = func() int { return columns }
		}
		var out bytes.Buffer
		WritePlan(&out, style, doc, false)
		if !strings.Contains(out.String(), want) {
			t.Errorf("%d columns: %s", columns, &out)
		}
	}
}
