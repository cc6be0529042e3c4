package rustup

import "testing"

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"stable\n", "[toolchain]\nchannel = \"1.80\"\ncomponents = [\"clippy\"]\n", "[toolchain]\npath = \"x\"\n", "", "toolchain = 1"} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, legacy bool) {
		path := "/w/rust-toolchain.toml"
		if legacy {
			path = "/w/rust-toolchain"
		}
		file, err := Parse(path, data)
		if err == nil && file.Channel == "" && file.Dir == "" && len(file.Components) == 0 {
			t.Error("a file that says nothing is good")
		}
	})
}

func FuzzRelease(f *testing.F) {
	f.Add("release: 1.95.0\ncommit-date: 2026-04-14\n", "1.95")
	f.Add("release: 1.97.0-nightly.1\n", "nightly-2026-05-01-x86_64-unknown-linux-gnu")
	f.Add("release: 1\n", ">=1.2.3 <4")
	f.Fuzz(func(t *testing.T, said, want string) {
		r := ParseRelease(said)
		if r.Text == "" {
			return
		}
		r.Satisfies(want)
		r.AtLeast(want)
	})
}
