package adapters_test

import (
	"testing"

	"github.com/bentobuild/bento/adapters"
)

func TestFinderRuns(t *testing.T) {
	f := &adapters.Finder{
		Programs: []string{"npm", "npm-*.cjs"}, Classes: []string{"org.example.Main"}, Calls: []string{"run", "-cp"}, Elsewhere: []string{"-w", "*:*"},
	}
	for _, c := range []struct {
		file  string
		words []string
		want  bool
	}{
		{"/usr/bin/npm", []string{"npm", "run", "x"}, true},
		{"npm", []string{"npm", "run", "x"}, true},
		{"/usr/bin/node", []string{"node", "/usr/bin/npm", "run", "x"}, true},
		{"/usr/bin/node", []string{"node", "npm-10.cjs", "run"}, true},
		{"/usr/bin/node", []string{"node", "check.js", "npm", "run"}, false},
		{"/usr/bin/java", []string{"java", "-cp", "a.jar", "org.example.Main"}, true},
		{"/usr/bin/java", []string{"java", "-cp", "a.jar", "Main"}, false},
		{"/usr/bin/npm", []string{"npm", "test"}, false},
		{"/usr/bin/npm", []string{"npm"}, false},
		{"/usr/bin/npm", nil, false},
		{"/usr/bin/npm", []string{"npm", "run", "x", "-w", "other"}, false},
		{"/usr/bin/npm", []string{"npm", "run", "x", "-w=other"}, false},
		{"/usr/bin/npm", []string{"npm", "run", "build:other"}, false},
		{"/usr/bin/npm", []string{"npm", "run", "a/build:other"}, false},
	} {
		if got := f.Runs(c.file, c.words); got != c.want {
			t.Errorf("%q %q: %t, want %t", c.file, c.words, got, c.want)
		}
	}
}
