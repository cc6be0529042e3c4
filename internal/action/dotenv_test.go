package action

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseDotenv(t *testing.T) {
	for _, c := range []struct {
		text string
		want map[string]string
	}{
		{"", map[string]string{}},
		{"\ufeffA=1\r\nB: 2\r\n", map[string]string{"A": "1", "B": "2"}},
		{"export A=1\nexported=2", map[string]string{"A": "1", "exported": "2"}},
		{"# A=0\n\n  A = a b # c\nB=x#y\nC=\n", map[string]string{"A": "a b", "B": "x#y", "C": ""}},
		{`A="x\ny" # c` + "\nB='$A\\n'", map[string]string{"A": "x\ny", "B": `$A\n`}},
		{"A=\"1\n# 2\n\"\nB=${A}3\nC=\\$A $(x) $b", map[string]string{"A": "1\n# 2\n", "B": "1\n# 2\n3", "C": "$A $(x) $b"}},
		{`A="C:\\" ` + "\nB=$A", map[string]string{"A": `C:\`, "B": `C:\`}},
		{"A=\"1\" B=2", map[string]string{"A": "1", "B": "2"}},
	} {
		got, err := parseDotenv([]byte(c.text))
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%q: %v %s", c.text, err, diff)
		}
	}
}

func TestParseDotenvBadLine(t *testing.T) {
	for text, line := range map[string]int{
		"s3cr3t":                     1,
		"A=1\nB\nC=2":                2,
		"A=\"1\n2\n\"\n\ns3cr3t x=1": 5,
		"=s3cr3t":                    1,
		"A=1\n\"s3cr3t\"=2":          2,
		"A=1\n\nB='s3cr3t\n\n":       3,
		"A=1\nB=s3cr3t\x00":          2,
		"A=\"s\"3cr3t":               1,
	} {
		set, err := parseDotenv([]byte(text))
		var bad *badLine
		if !errors.As(err, &bad) || bad.line != line || set != nil || strings.Contains(err.Error(), "3cr3t") {
			t.Errorf("%q: %v %v, want an error of line %d that quotes nothing", text, set, err, line)
		}
	}
}

func FuzzParseDotenv(f *testing.F) {
	f.Add("A=1\nexport B=\"x\\n$A\" # c\n")
	f.Fuzz(func(t *testing.T, text string) {
		set, err := parseDotenv([]byte(text))
		var bad *badLine
		if errors.As(err, &bad) && (bad.line < 1 || bad.line > 1+strings.Count(text, "\n")+strings.Count(text, "\r")) {
			t.Errorf("line %d of %q", bad.line, text)
		}
		for name, value := range set {
			if name == "" || strings.ContainsAny(name, "=\n\x00 ") || strings.ContainsRune(value, 0) {
				t.Errorf("%q = %q", name, value)
			}
		}
	})
}
