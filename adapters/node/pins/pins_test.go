package pins

import (
	"testing"

	"github.com/bentobuild/bento/adapters"
)

func FuzzPin(f *testing.F) {
	for _, seed := range []string{"v20.1.0\n", "lts/*", "# c\n\n18 || >=20 <21", "\xef\xbb\xbf16 - 18", "^1.x.x-beta.1"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text := string(data)
		_, err := ParseRange(text)
		v := Check(adapters.Toolchain{Tool: "node", Version: text}, "node=v20.1.0")
		if err != nil && v.OK {
			t.Fatalf("%q is no range and yet satisfied", text)
		}
	})
}
