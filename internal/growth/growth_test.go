package growth

import (
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Check finds quadratic work, in memory and in time, and accepts other work.
func TestCheck(t *testing.T) {
	file := List("", "line %d\n", "", "")
	linear := Reader{func(data []byte) any { return strings.Split(string(data), "\n") }, file}
	all := Reader{func(data []byte) any {
		text := ""
		for line := range strings.Lines(string(data)) {
			text += line
		}
		return text
	}, file}
	search := Reader{func(data []byte) any {
		lines := strings.Split(string(data), "\n")
		found := 0
		for _, line := range lines {
			found += slices.Index(lines, line)
		}
		return found
	}, file}
	if linear.memory() != "" || linear.time() != "" {
		t.Errorf("linear work: %q, %q", linear.memory(), linear.time())
	}
	if all.memory() == "" {
		t.Error("memory that grows with the square is not seen")
	}
	if runtime.GOOS == "linux" && search.time() == "" {
		t.Error("time that grows with the square is not seen")
	}
}
