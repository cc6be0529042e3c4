package settings

import (
	"testing"

	"github.com/bentobuild/bento/adapters/snapshot"
)

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"engine-strict=true\n", "nodeLinker: pnp\nyarnPath: ../x\n", "packages:\n  - a/*\noverrides:\n  a: link:b\n", "packages: &a [*a]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{NPMFile, YarnFile, PNPMFile} {
			d := dir(t, name, text)
			files := snapshot.NewFiles(d)
			ReadNPM(files, d)
			y, err := ReadYarn(files, d)
			if err == nil && y.Linker == "" {
				t.Fatalf("no linker: %+v", y)
			}
			_, _ = ReadPNPM(files, d)
		}
	})
}
