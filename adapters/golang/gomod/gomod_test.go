package gomod_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/golang/gomod"
	"github.com/bentobuild/bento/diagnostics"
)

func TestMalformedFilesAreToldWithTheirPlace(t *testing.T) {
	for text, want := range map[string]string{
		"\ufeffmodule m\n":        "1:1: unexpected input character",
		"\xff\xfem\x00o\x00d\x00": "1:4: unexpected input character",
		"module m\nmodule n\n":    "2:1: repeated module statement",
		"go 1.22\ngo 1.23\n":      "2:1: repeated go statement",
		"module m\nrequire x\n":   "2:1: usage: require module/path v1.2.3",
		"module m\nfoo bar\n":     "2:1: unknown directive: foo",
		"module m\nrequire (\n":   "3:1: syntax error",
		"module \"a":              "1:8: unexpected EOF in string",
	} {
		_, err := gomod.ParseModule("/w/go.mod", []byte(text))
		var problems diagnostics.Problems
		if !errors.As(err, &problems) || !strings.HasPrefix(problems[0].String(), "/w/go.mod:"+want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
	_, err := gomod.ParseWork("/w/go.work", []byte("go 1.22\nuse (\n./a\n"))
	if err == nil || !strings.HasPrefix(err.Error(), "/w/go.work:4:1: ") {
		t.Errorf("go.work: %v", err)
	}
}

func TestLinesMayEndAsOnWindows(t *testing.T) {
	m, err := gomod.ParseModule("/w/go.mod", []byte("module m\r\ngo 1.22\r\nrequire x.com/y v1.0.0\r\n"))
	if err != nil || m.Name != "m" || m.Demand.GoVersion != "1.22" || len(m.Requires) != 1 || m.Requires[0].Line != 3 {
		t.Errorf("%+v, %v", m, err)
	}
}

func FuzzParseWork(f *testing.F) {
	f.Add([]byte("go 1.22\nuse (\n\t.\n\t./a\n)\nreplace x => ./y\n"))
	f.Add([]byte("use ../../..\nuse \"a b\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := gomod.ParseWork("/w/go.work", data)
		if err != nil {
			_ = err.Error()
			return
		}
		for _, dir := range w.Uses {
			if !filepath.IsAbs(dir) {
				t.Errorf("use %q", dir)
			}
		}
	})
}

func FuzzParseSums(f *testing.F) {
	f.Add([]byte("x.com/a v1.0.0 h1:a=\nx.com/a v1.0.0/go.mod h1:b=\n"))
	f.Add([]byte("\n\r\na b\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if sums, err := gomod.ParseSums("go.sum", data); err == nil {
			sums.Digest(map[string]bool{"x.com/a": true})
		}
	})
}
