package tomlfile

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
	gotoml "github.com/pelletier/go-toml/v2"

	"github.com/bentobuild/bento/diagnostics"
)

func mustParse(t *testing.T, text string) *File {
	t.Helper()
	f, problems := Parse("x.toml", []byte(text))
	if f == nil {
		t.Fatalf("Parse: %v", problems)
	}
	return f
}

func texts(problems []diagnostics.Diagnostic) []string {
	var out []string
	for _, d := range problems {
		s := d.String()
		if d.Hint != "" {
			s += " (" + d.Hint + ")"
		}
		out = append(out, s)
	}
	return out
}

func TestPos(t *testing.T) {
	f := mustParse(t, `name = "x"
"quo ted"  =  [ "a",
  'b', {k = 1, d.e = 2} ]

[tasks.build]
run = "r"
[[g]]
n = 1
[[g]] # second
 n = 2
[g.sub]
deep.er = 3
`)
	tests := []struct {
		key       string
		line, col int
	}{
		{"name", 1, 1},
		{"quo ted", 2, 1},
		{"quo ted/0", 2, 17},
		{"quo ted/1", 3, 3},
		{"quo ted/2", 3, 8},
		{"quo ted/2/k", 3, 9},
		{"quo ted/2/d", 3, 16},
		{"quo ted/2/d/e", 3, 18},
		{"tasks", 5, 2},
		{"tasks/build", 5, 8},
		{"tasks/build/run", 6, 1},
		{"g/0", 7, 3},
		{"g/1", 9, 3},
		{"g/1/n", 10, 2},
		{"g/1/sub", 11, 4},
		{"g/1/sub/deep/er", 12, 6},
		{"g/2", 0, 0},
		{"nothing", 0, 0},
		{"name/x", 0, 0},
	}
	for _, tt := range tests {
		line, col := f.Pos(strings.Split(tt.key, "/")...)
		if line != tt.line || col != tt.col {
			t.Errorf("Pos(%s) = %d:%d, want %d:%d", tt.key, line, col, tt.line, tt.col)
		}
	}
	if got := f.Lookup("quo ted", "2", "d", "e").Path(); got != `"quo ted"[2].d.e` {
		t.Errorf("Path() = %s", got)
	}
	if got := f.Lookup("tasks", "build", "run").Pos(); got != (diagnostics.Pos{File: "x.toml", Line: 6, Col: 7}) {
		t.Errorf("Pos of the value = %v", got)
	}
}

func TestParseRefuses(t *testing.T) {
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	tests := []struct{ name, text, want string }{
		{"no value", "a = 1\nb =\n", "x.toml:2:4: unexpected character U+000A at start of value"},
		{"end", "a", "x.toml:1:1: expected '=' after key"},
		{"open string", "\n\na = \"x\n", "x.toml:3:"},
		{"twice", "a = 1\na = 2\n", "x.toml:2:1: a is defined twice, first in line 1 column 1"},
		{"table twice", "[a]\n[b]\n[a]\n", "x.toml:3:2: a is defined twice, first in line 1 column 2"},
		{"dotted and header", "a.b = 1\n[a]\n", "x.toml:2:2: a is defined twice"},
		{"inline and header", "a = {b = 1}\n[a.c]\n", "x.toml:2:2: a is defined twice"},
		{"inline and dotted", "a = {b = 1}\na.c = 1\n", "x.toml:2:1: a is defined twice"},
		{"header and dotted", "[a.b]\nc = 1\n[a]\nb.d = 1\n", "x.toml:4:1: b is defined twice"},
		{"array and elements", "a = []\n[[a]]\n", "x.toml:2:3: a is defined twice"},
		{"table and elements", "[a]\n[[a]]\n", "x.toml:2:3: a is defined twice"},
		{"twice inline", "a = {b = 1, b = 2}\n", "x.toml:1:13: b is defined twice"},
		{"no such day", "ok = 1\na = 2021-02-30\n", "x.toml:2:"},
		{"integer", "a = 99999999999999999999\n", "x.toml:1:5: "},
		{"UTF-16", "\xff\xfea\x00", "x.toml:1:4: a NUL byte; expected UTF-8 text"},
		{"UTF-8", "a = 1\nb = \"\xe9\"\n", "x.toml:2:6: byte 0xe9 is not valid UTF-8"},
		{"deep value", "a = " + deep, "x.toml:1:132: an array nests deeper"},
		{"deep key", strings.Repeat("a.", 200) + "a = 1", "the key has more than 128 parts"},
		{"deep header", "[" + strings.Repeat("a.", 200) + "a]", "the key has more than 128 parts"},
		{"very deep", "a = " + strings.Repeat("[", 500_000), "x.toml:1:"},
		{"too large", strings.Repeat("#", MaxConfig+1), "x.toml: the file has 1048577 bytes, expected at most 1048576"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, problems := Parse("x.toml", []byte(tt.text))
			if f != nil || len(problems) != 1 || !strings.Contains(problems[0].String(), tt.want) {
				t.Fatalf("Parse: file %v, problems %q, want %q", f != nil, problems, tt.want)
			}
		})
	}
}

func TestParseTellsSeveralProblems(t *testing.T) {
	_, problems := Parse("x.toml", []byte("a = 1\na = 2\n[b]\n[b]\nc = 1\nc = 1\n[d\n"))
	want := []string{"x.toml:2:1", "x.toml:4:2", "x.toml:6:1", "x.toml:7:3"}
	var got []string
	for _, d := range problems {
		got = append(got, d.Where())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseAcceptsMarkAndCRLF(t *testing.T) {
	f := mustParse(t, "\xef\xbb\xbfa = 1\r\n[b]\r\nc = \"x\"\r\n")
	if line, col := f.Pos("b", "c"); line != 3 || col != 1 {
		t.Errorf("Pos(b.c) = %d:%d", line, col)
	}
	if line, col := f.Pos("a"); line != 1 || col != 1 {
		t.Errorf("Pos(a) = %d:%d", line, col)
	}
}

func TestManifestMayBeLarger(t *testing.T) {
	text := []byte("a = 1\n" + strings.Repeat("#\n", MaxConfig))
	if f, problems := ParseManifest("m", text); f == nil {
		t.Error(problems)
	}
}

// Parse must end within two minutes for hostile documents.
func TestParseIsBounded(t *testing.T) {
	const size = MaxConfig / 8
	part := strings.Repeat("a.", 100) + "b"
	docs := map[string]string{
		"headers":      strings.Repeat("[[a]]\n", size/6),
		"long headers": strings.Repeat("[["+part+"]]\n", size/len(part)),
		"same keys":    strings.Repeat("a = 1\n", size/6),
		"elements":     "a = [" + strings.Repeat("1,", size/2) + "]",
		"tables":       "a = [" + strings.Repeat("{},", size/3) + "]",
		"open arrays":  "a = " + strings.Repeat("[", size),
		"open tables":  strings.Repeat("a={", size/3),
		"lines":        strings.Repeat("\n", size),
	}
	for name, text := range docs {
		start := time.Now()
		Parse("x", []byte(text))
		if took := time.Since(start); took > 2*time.Minute {
			t.Errorf("%s took %v", name, took)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"a.b=1\n[a]", "a={b=1}\n[a.c]", "[[a]]\n[a.b]\n[[a]]\nb.c=1", "x = 2021-01-01T00:00:00Z", `"a\u00e9" = '''x'''`,
		"a = [1,\n# c\n 2]\nb = {a.b = [{}], \"\" = 1}\n", "[a.b]\n[a]\n[a.c]\n", "\xef\xbb\xbfa=nan", "a=1_0\r\n", "[[a.b]]\n[a]\nb=1",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, problems := Parse("x", data)
		if (file == nil) != (len(problems) > 0) {
			t.Fatalf("file %v with problems %v", file != nil, problems)
		}
		for _, d := range problems {
			if d.Line < 0 || d.Col < 0 || d.Message == "" {
				t.Fatalf("bad problem %+v", d)
			}
		}
		if file != nil {
			checkPlaces(t, file.Root())
		}
		compareParsers(t, data, file, problems)
	})
}

// compareParsers compares the rules of this package about definitions with those of go-toml.
func compareParsers(t *testing.T, data []byte, file *File, problems []diagnostics.Diagnostic) {
	var a, b map[string]any
	_, sushi := toml.Decode(string(data), &a)
	strict := gotoml.Unmarshal(data, &b)
	if file != nil && strict != nil {
		var derr *gotoml.DecodeError
		if errors.As(strict, &derr) && !strings.HasPrefix(string(data), "\xef\xbb\xbf") {
			t.Fatalf("accepted, but go-toml says %v", strict)
		}
	}
	if file == nil && sushi == nil && strict == nil && !strings.Contains(problems[0].Message, "more than") && !strings.Contains(problems[0].Message, "deeper") {
		t.Fatalf("refused (%v), both parsers accept", problems)
	}
}

func checkPlaces(t *testing.T, v *Value) {
	for _, p := range []diagnostics.Pos{v.Pos(), v.KeyPos()} {
		if p.Line < 1 || p.Col < 1 {
			t.Fatalf("%s is at %v", v.Path(), p)
		}
	}
	for _, name := range v.Keys() {
		checkPlaces(t, v.Child(name))
	}
	for _, e := range v.Elems() {
		checkPlaces(t, e)
	}
}
