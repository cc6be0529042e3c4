package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/semver"
)

// versionFile holds the version of bento for a workspace, for people and for tools that install it.
const versionFile = ".bento-version"

// wrongVersion returns the problems of a workspace that another version of bento is for. They are the only
// ones then, as other problems may come from the difference. A development build is never refused: it has no
// version to compare.
func (h *Host) wrongVersion(root string, cfg *config.Workspace) error {
	var problems diagnostics.Problems
	if v := cfg.Version; v.Given {
		problems = h.compare(problems, v.Value, diagnostics.Diagnostic{File: v.Pos.File, Line: v.Pos.Line, Col: v.Pos.Col})
	}
	text, err := clone.At(root).Read(versionFile, 1<<10)
	at := diagnostics.Diagnostic{File: versionFile, Line: 1}
	switch {
	case err == nil:
		problems = h.compare(problems, strings.TrimSpace(string(text)), at)
	case diagnostics.IsMachineFault(err):
		return err
	case !errors.Is(err, fs.ErrNotExist):
		at.Message, at.Hint = fmt.Sprintf("it cannot be read: %v", err), "write one line with a version, such as 0.2.1, or remove the file"
		problems = append(problems, refusal("invalid_version", at))
	}
	if len(problems) == 0 {
		return nil
	}
	return problems
}

// compare adds a problem at a place if this version of bento is outside of a range, or the range is none.
func (h *Host) compare(problems diagnostics.Problems, want string, at diagnostics.Diagnostic) diagnostics.Problems {
	if _, err := semver.ParseRange(want); err != nil || want == "" {
		at.Message, at.Hint = fmt.Sprintf("%.100q is not a version of bento or a range", want), `expected for example 0.2.1 or ">=0.2"`
		return append(problems, refusal("invalid_version", at))
	}
	found := strings.TrimPrefix(h.Version, "v")
	if v, err := semver.Parse(found); err != nil || v.Prerelease() != "" {
		return problems
	}
	if ok, _ := semver.Satisfies(found, want); ok {
		return problems
	}
	at.Message = fmt.Sprintf("this workspace works with bento %s, this is bento %s", want, found)
	at.Hint = "get such a version: bento self update --version VERSION, or the command by which you installed bento"
	return append(problems, refusal("other_version", at))
}

func refusal(rule string, d diagnostics.Diagnostic) diagnostics.Diagnostic {
	d.Severity, d.Source, d.Rule = diagnostics.Error, "bento", rule
	return d
}
