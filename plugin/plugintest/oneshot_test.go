package plugintest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const toolPage = repository + "/docs/TOOL-PROTOCOL.md"

// toolClause is a clause of docs/TOOL-PROTOCOL.md: a letter for its contract, and its number.
var toolClause = regexp.MustCompile(`(?m)^\*\*(([A-Z])\d+\.\d+)\*\* \((tool|bento), (MUST|SHOULD)\) (.*)$`)

// TestOneshotClauses: every clause of the one-shot contract names a test. Each clause that binds tools is
// an axis of the suite, at the same level and in the same order.
func TestOneshotClauses(t *testing.T) {
	text, err := os.ReadFile(toolPage)
	if err != nil {
		t.Fatal(err)
	}
	var doc, suite, numbers []string
	for _, m := range toolClause.FindAllStringSubmatch(string(text), -1) {
		number, letter, binds, level, rest := m[1], m[2], m[3], m[4], m[5]
		if letter != "O" {
			continue
		}
		if slices.Contains(numbers, number) {
			t.Errorf("there are two clauses %s", number)
		}
		numbers = append(numbers, number)
		if !testName.MatchString(rest) {
			t.Errorf("clause %s names no test", number)
		}
		if binds == "tool" {
			doc = append(doc, number+" "+level)
		}
	}
	if n := strings.Count(string(text), "\n**O"); n != len(numbers) {
		t.Errorf("%d of %d clauses can be read", len(numbers), n)
	}
	for _, a := range new(oneshotSuite).axes() {
		suite = append(suite, a.clause+" "+string(a.level))
	}
	if diff := cmp.Diff(doc, suite); diff != "" || len(suite) == 0 {
		t.Errorf("docs/TOOL-PROTOCOL.md and the suite differ (-page +suite):\n%s", diff)
	}
}
