package pins

import (
	"fmt"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/project"
	"github.com/bentobuild/bento/internal/semver"
)

// Check reports whether the toolchain with this fingerprint satisfies want.
func Check(want adapters.Toolchain, fingerprint string) adapters.Verdict {
	found := fingerprintField(fingerprint, want.Tool)
	v, err := semver.Parse(found)
	if err != nil {
		return adapters.Verdict{OK: true, Found: found}
	}
	verdict := adapters.Verdict{Found: v.String()}
	r, err := ParseRange(want.Version)
	if err != nil {
		verdict.Hint = err.Error()
		return verdict
	}
	if verdict.OK = r.Has(v); !verdict.OK {
		verdict.Hint = howToGet(want)
	}
	return verdict
}

func howToGet(want adapters.Toolchain) string {
	first := firstVersion(want.Version)
	switch tool := project.Manager(want.Tool); tool {
	case project.NPM, project.PNPM, project.Bun:
		return fmt.Sprintf("install it with %q, or change the pin", "npm install -g "+want.Tool+"@"+want.Version)
	case project.Yarn:
		if strings.HasPrefix(first, "1") && (first == "1" || strings.HasPrefix(first, "1.")) {
			return fmt.Sprintf("install it with %q, or change the pin", "npm install -g yarn@"+want.Version)
		}
		return fmt.Sprintf("add it to the project with %q, or change the pin", "yarn set version "+first)
	}
	if first == "" {
		first = "--lts"
	}
	return fmt.Sprintf("install it with a version manager, such as %q, or change the pin", "nvm install "+first)
}

// fingerprintField returns the value of name in "node=v20.1.0 npm=10.2.0".
func fingerprintField(fingerprint, name string) string {
	for field := range strings.FieldsSeq(fingerprint) {
		if value, ok := strings.CutPrefix(field, name+"="); ok {
			return value
		}
	}
	return ""
}
