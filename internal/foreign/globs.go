package foreign

import (
	"path"
	"strings"
)

// fileSet collects globs of inputs in bento's form.
type fileSet struct {
	all      bool // all files that bento takes by default
	positive []string
	negative []string
}

// everything is a first glob that excludes nothing that is an input by default: a list that starts with
// an exclusion starts from the default inputs.
const everything = "!node_modules/**"

func (s *fileSet) add(glob string) {
	if rest, ok := strings.CutPrefix(glob, "!"); ok {
		s.negative = append(s.negative, "!"+rest)
		return
	}
	s.positive = append(s.positive, glob)
}

// list returns the globs for the key inputs, nil for the default ones.
func (s *fileSet) list() (globs []string) {
	if s.all && len(s.positive) > 0 {
		globs = append(globs, everything)
	}
	if !s.all && len(s.positive) == 0 {
		return s.negative
	}
	return append(append(globs, s.positive...), s.negative...)
}

// anchor returns a glob relative to dir as bento writes it: relative to the dish, or from the root with
// "//" in front. ok is false for one that leads out of the workspace.
func anchor(dir, glob string) (text string, ok bool) {
	not := ""
	if rest, negated := strings.CutPrefix(glob, "!"); negated {
		not, glob = "!", rest
	}
	rooted := strings.HasPrefix(glob, "//")
	glob = strings.TrimLeft(glob, "/")
	if strings.HasSuffix(glob, "/") {
		glob += "**"
	}
	if glob == "" {
		return "", false
	}
	if !rooted {
		if clean := path.Clean(glob); clean == ".." || strings.HasPrefix(clean, "../") {
			glob, rooted = path.Join(dir, clean), true
		} else {
			glob = clean
		}
	} else {
		glob = path.Clean(glob)
	}
	if glob == ".." || strings.HasPrefix(glob, "../") || glob == "." {
		return "", false
	}
	if rooted {
		return not + "//" + glob, true
	}
	return not + glob, true
}

// output adds a glob in bento's form to the outputs of a task.
func (t *Task) output(glob string) {
	not, rest := "", glob
	if r, negated := strings.CutPrefix(glob, "!"); negated {
		not, rest = "!", r
	}
	if r, rooted := strings.CutPrefix(rest, "//"); rooted {
		t.WorkspaceOutputs = append(t.WorkspaceOutputs, not+r)
		return
	}
	t.Outputs = append(t.Outputs, glob)
}
