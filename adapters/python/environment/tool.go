package environment

import (
	"context"
	"fmt"

	"github.com/bentobuild/bento/internal/pattern"
	"github.com/bentobuild/bento/internal/probe"
)

// versionLine matches the line with the version of uv or poetry; warnings may come before
// it.
var versionLine = pattern.New(`(?m)^(?:Poetry \(version |uv )(\d[^\s)]*)`)

// Version returns the version of uv or poetry at at.Path.
func Version(ctx context.Context, asker *probe.Asker, q probe.Question, at probe.At) (string, error) {
	output, err := asker.Ask(ctx, q, at)
	if err != nil {
		return "", err
	}
	m := versionLine.FindStringSubmatch(output.Out)
	if m == nil {
		return "", fmt.Errorf("%q for %q printed no version: %.200q", at.Path+" --version", at.Dir, output.Out)
	}
	return m[1], nil
}
