package environment

import (
	"context"
	"fmt"

	"github.com/bentobuild/bento/internal/pattern"
	"github.com/bentobuild/bento/internal/probe"
)

// versionLine is the line in which uv and poetry tell their version; warnings may
// come before it.
var versionLine = pattern.New(`(?m)^(?:Poetry \(version |uv )(\d[^\s)]*)`)

// Version asks uv or poetry, at at.Path, for its version.
func Version(ctx context.Context, asker *probe.Asker, q probe.Question, at probe.At) (string, error) {
	said, err := asker.Ask(ctx, q, at)
	if err != nil {
		return "", err
	}
	m := versionLine.FindStringSubmatch(said.Out)
	if m == nil {
		return "", fmt.Errorf("%q for %q gave no version: %.200q", at.Path+" --version", at.Dir, said.Out)
	}
	return m[1], nil
}
