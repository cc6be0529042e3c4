package ignore

import (
	"regexp"
	"testing"
)

// The classes of the C locale are those of package regexp, byte by byte.
func TestPosix(t *testing.T) {
	for _, name := range []string{"alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit"} {
		class := regexp.MustCompile(`^[[:` + name + `:]]$`)
		for c := range 128 {
			if in, known := posix(name, byte(c)); !known || in != class.Match([]byte{byte(c)}) {
				t.Errorf("byte %#x in %s: %v, known %v", c, name, in, known)
			}
		}
		for c := 128; c < 256; c++ {
			if in, _ := posix(name, byte(c)); in {
				t.Errorf("byte %#x in %s", c, name)
			}
		}
	}
	if _, known := posix("word", 'a'); known {
		t.Error("git has no class word")
	}
}
