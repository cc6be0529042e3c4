package report

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what is found to the .want files")

func TestParse(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, d := range Parse(Where{Dir: "/ws/lib", Root: "/ws"}, string(data)) {
			b.WriteString(d.String() + "\n")
		}
		want := strings.TrimSuffix(name, ".txt") + ".want"
		if *update {
			if err := os.WriteFile(want, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		golden, err := os.ReadFile(want)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(golden), b.String()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestParseIsBounded(t *testing.T) {
	line := "lib/x.rb:1: syntax error, unexpected " + strings.Repeat("x", 100_000) + "\n"
	var b strings.Builder
	for i := range 2_000 {
		b.WriteString(strings.Replace(line[:200], "x.rb", "x"+string(rune('a'+i%26))+strings.Repeat("y", i/26)+".rb", 1) + "\n")
	}
	found := Parse(Where{Dir: "/ws", Root: "/ws"}, line, b.String(), "/etc/x.rb:1: syntax error\n../../x.rb:2: syntax error\nvendor/bundle/x.rb:3: syntax error\nx.rb:99999999999: syntax error\n")
	if len(found) != maxFindings {
		t.Errorf("%d findings", len(found))
	}
	for _, d := range found {
		if len(d.Message) > maxMessage || !filepath.IsLocal(d.File) || d.Line < 1 || strings.HasPrefix(d.File, "vendor") {
			t.Errorf("%+v", d)
		}
	}
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, name := range files {
		if data, err := os.ReadFile(name); err == nil {
			f.Add(string(data))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range Parse(Where{Dir: "/ws/lib", Root: "/ws"}, text) {
			if !filepath.IsLocal(d.File) || d.Line < 1 || len(d.Message) > maxMessage {
				t.Fatalf("%+v", d)
			}
		}
	})
}
