package golang

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters/snapshot"
)

func TestEmbeds(t *testing.T) {
	source := "package a\n" +
		"//go:embed web/dist\n" +
		"//go:embed all:a \"b c\" `d/e`\n" +
		"\t//go:embed pages/*.html static/[a-z]{x}*\r\n" +
		"//go:embedded no\n" +
		"//go:embed ../up /abs ./dot d//e\n" +
		"//go:embed x \"unclosed\n" +
		"//go:embed *\n"
	var got []string
	for _, e := range New(snapshot.Options{}).Embeds("/w", "/w/p/a.go", []byte(source)) {
		got = append(got, fmt.Sprint(e.Line, " ", e.Path, " ", e.Glob))
	}
	want := []string{
		"2 /w/p/web/dist ", "3 /w/p/a ", "3 /w/p/b c ", "3 /w/p/d/e ",
		"4 /w/p/pages *.html", `4 /w/p/static [a-z]\{x}*`, "7 /w/p/x ", "8 /w/p *",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
