package snapshot

import (
	"slices"
	"strings"
	"testing"
)

func FuzzToolVersions(f *testing.F) {
	for _, seed := range []string{"nodejs 20.1.0 18\n", "# c\n\nnode lts # x\r\n", "node\nnode path:/x\n", "\ufeffnode 1", "node\t\x0b2"} {
		f.Add([]byte(seed))
	}
	names := []string{"nodejs", "node"}
	f.Fuzz(func(t *testing.T, data []byte) {
		version, line := toolVersion(data, names)
		if line == 0 {
			if version != "" {
				t.Fatalf("%q on no line", version)
			}
			return
		}
		lines := strings.Split(string(data), "\n")
		if line > len(lines) {
			t.Fatalf("line %d of %d", line, len(lines))
		}
		fields := strings.Fields(lines[line-1])
		if version == "" || strings.ContainsAny(version, " \n#") || !slices.Contains(names, fields[0]) || !strings.HasPrefix(fields[1], version) {
			t.Fatalf("%q on line %d, which is %q", version, line, lines[line-1])
		}
	})
}

func FuzzFirstLine(f *testing.F) {
	for _, seed := range []string{"v20.1.0\n", "# c\n\n18 || >=20 <21", "\xef\xbb\xbf16 - 18", " # \n\t\r\n", "3.11"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, line := firstLine(data)
		lines := strings.Split(strings.TrimPrefix(string(data), "\ufeff"), "\n")
		for i, l := range lines {
			want, _, _ := strings.Cut(l, "#")
			if want = strings.TrimSpace(want); want != "" {
				if text != want || line != i+1 {
					t.Fatalf("%q on line %d, want %q on line %d", text, line, want, i+1)
				}
				return
			}
		}
		if text != "" || line != 0 {
			t.Fatalf("%q on line %d of a file without text", text, line)
		}
	})
}
