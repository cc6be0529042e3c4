package packagejson

import (
	"slices"

	"github.com/bentobuild/bento/internal/jsonfile"
	"github.com/bentobuild/bento/internal/lockgraph"
)

// ownMembers are the members of the package.json of a workspace's root that concern the root alone: no
// tool looks them up for a member. All others may be settings that a tool reads from there.
var ownMembers = []string{
	"version", "scripts", "description", "keywords", "author", "contributors", "maintainers", "license", "homepage", "bugs", "repository",
	"funding", "files", "lint-staged", "husky", "simple-git-hooks", "pre-commit", "gitHooks", "commitlint", "release-it", "standard-version",
	"auto", "//", "comment",
}

// sharedDigest returns a digest of what the members of a workspace may read in its package.json.
func sharedDigest(root *jsonfile.Value) string {
	var parts []string
	for _, m := range root.Members() {
		if !slices.Contains(ownMembers, m.Name) {
			parts = flatten(append(parts, "member", m.Name), m.Value)
		}
	}
	return lockgraph.Of(parts...).String()
}

// flatten adds the value in a form in which no two values are alike.
func flatten(parts []string, v *jsonfile.Value) []string {
	switch parts = append(parts, v.Kind().String()); v.Kind() {
	case jsonfile.Object:
		for _, m := range v.Members() {
			parts = flatten(append(parts, "member", m.Name), m.Value)
		}
		return append(parts, "end")
	case jsonfile.Array:
		for _, item := range v.Items() {
			parts = flatten(append(parts, "item"), item)
		}
		return append(parts, "end")
	case jsonfile.String:
		return append(parts, v.Text())
	}
	return append(parts, v.Literal())
}
