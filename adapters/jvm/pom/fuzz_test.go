package pom

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/diagnostics"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		whole, "<project>&auml;<![CDATA[x]]></project>", "<!DOCTYPE x [<!ENTITY a 'b'>]><project/>", "\xff\xfe<\x00a\x00>\x00",
		`<?xml version="1.0" encoding="ISO-8859-1"?><project><version>` + "\xe4" + `</version></project>`,
		"<project><parent><relativePath>../..</relativePath></parent><modules><module>..</module><module>a\\b</module></modules></project>",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse("/w/a/pom.xml", data)
		if err != nil {
			var p diagnostics.Problems
			if !errors.As(err, &p) || len(p) == 0 || p[0].Line < 1 {
				t.Fatalf("%v: no place", err)
			}
			return
		}
		c := Chain{m, m}
		c.Coordinates()
		for _, u := range m.Uses {
			c.Expand(u.Version)
		}
		c.Compiler("release")
		c.Rule("requireJavaVersion")
		for dir := range m.Modules {
			if !filepath.IsAbs(dir) || dir != filepath.Clean(dir) {
				t.Errorf("module %q", dir)
			}
		}
		if m.Parent != nil {
			m.Parent.Matches(m)
			if m.Parent.Path != "" && !filepath.IsAbs(m.Parent.Path) {
				t.Errorf("parent %q", m.Parent.Path)
			}
		}
	})
}

func FuzzSteers(f *testing.F) {
	f.Add([]byte("<settings><profiles><profile><id>a</id></profile></profiles></settings>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		first := Steers(data)
		if again := Steers(data); first != again {
			t.Errorf("%s and %s", first, again)
		}
	})
}
