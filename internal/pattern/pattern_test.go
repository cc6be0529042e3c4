package pattern

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPattern(t *testing.T) {
	const expr, text = `(\w)(\d)`, "a1 b2 c"
	p, re := New(expr), regexp.MustCompile(expr)
	for name, pair := range map[string][2]any{
		"MatchString":                {p.MatchString(text), re.MatchString(text)},
		"FindString":                 {p.FindString(text), re.FindString(text)},
		"FindStringIndex":            {p.FindStringIndex(text), re.FindStringIndex(text)},
		"FindStringSubmatch":         {p.FindStringSubmatch(text), re.FindStringSubmatch(text)},
		"FindStringSubmatchIndex":    {p.FindStringSubmatchIndex(text), re.FindStringSubmatchIndex(text)},
		"FindAllString":              {p.FindAllString(text, -1), re.FindAllString(text, -1)},
		"FindAllStringSubmatch":      {p.FindAllStringSubmatch(text, 1), re.FindAllStringSubmatch(text, 1)},
		"FindAllStringSubmatchIndex": {p.FindAllStringSubmatchIndex(text, -1), re.FindAllStringSubmatchIndex(text, -1)},
		"ReplaceAllString":           {p.ReplaceAllString(text, "$2"), re.ReplaceAllString(text, "$2")},
	} {
		if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
			t.Errorf("%s (-regexp +pattern):\n%s", name, diff)
		}
	}
}
