package report

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write docs/codes.md")

// TestCodesPage: docs/codes.md has every code with its meaning. With -update it writes the page.
func TestCodesPage(t *testing.T) {
	var page bytes.Buffer
	page.WriteString("# Codes\n\nThe `rule` of a problem, the reason of a miss or a failure, and the code of a plugin's failure, in messages and documents.\n" +
		"They are stable. `bento explain CODE` also says the cause, and what to do.\n\n| code | meaning |\n|---|---|\n")
	for _, e := range Codes() {
		fmt.Fprintf(&page, "| `%s` | %s |\n", e.Code, e.Meaning)
	}
	const name = "../../docs/codes.md"
	if *update {
		if err := os.WriteFile(name, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(got, page.Bytes()) {
		t.Errorf("%s is out of date (%v): run go test ./internal/report -update", name, err)
	}
}
