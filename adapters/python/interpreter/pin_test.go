package interpreter

import (
	"testing"

	"github.com/bentobuild/bento/adapters"
)

func FuzzPin(f *testing.F) {
	for _, seed := range []string{"3.11.7\n", "# c\n\npypy3.10-7.3", ">=3.9,<4", "\xef\xbb\xbf^3.9", "3.13t", "cpython-3.12@x"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text := string(data)
		_, err := parseWanted(text)
		v := Check(adapters.Toolchain{Tool: "python", Version: text}, "python=3.11.7 implementation=cpython")
		if err != nil && v.OK {
			t.Fatalf("%q is no pin and yet satisfied", text)
		}
	})
}
