package diagnostics

import (
	"fmt"
	"strings"
)

// maxFew is how many names a message lists.
const maxFew = 5

// Few returns the first few names, quoted, and how many follow.
func Few(names []string) string {
	quoted := make([]string, 0, maxFew)
	for _, name := range names[:min(len(names), maxFew)] {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	list := strings.Join(quoted, ", ")
	if more := len(names) - maxFew; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}
