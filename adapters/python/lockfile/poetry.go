package lockfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters/python/requirements"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/lockgraph"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// PoetryDigest returns the digest of everything that a poetry.lock resolves to: it belongs
// to one project. The error says why it cannot.
func PoetryDigest(file string, data []byte) (string, error) {
	f, problems := tomlfile.ParseManifest(file, data)
	if len(problems) > 0 {
		return "", diagnostics.Problems(problems)
	}
	version := ""
	if v := f.Lookup("metadata", "lock-version"); v != nil {
		version, _ = v.Text()
	}
	if !strings.HasPrefix(version, "1.") && !strings.HasPrefix(version, "2.") {
		return "", fmt.Errorf("lock-version %q of poetry.lock is unknown, expected 1 or 2", version)
	}
	var sums []lockgraph.Sum
	if list := f.Lookup("package"); list != nil {
		for _, v := range list.Elems() {
			// Version 1 keeps the hashes apart from the packages.
			sums = append(sums, lockgraph.Of(poetryPackage(v, f.Lookup("metadata", "files", str(v, "name")))))
		}
	}
	return lockgraph.Join(sums...).String(), nil
}

func poetryPackage(v, files *tomlfile.Value) string {
	if own := v.Child("files"); own != nil && len(own.Elems()) > 0 {
		files = own
	}
	var hashes []string
	if files != nil {
		for _, f := range files.Elems() {
			hashes = append(hashes, str(f, "file")+" "+str(f, "hash"))
		}
	}
	slices.Sort(hashes)
	return fmt.Sprintf("%q %q %q %q %q %q %q", requirements.Normalize(str(v, "name")), str(v, "version"), poetrySource(v.Child("source")),
		strs(v.Child("groups")), plain(v.Child("markers")), plain(v.Child("dependencies")), hashes)
}

// poetrySource leaves out the URL of an index: the hashes of files identify the content.
func poetrySource(v *tomlfile.Value) string {
	if kind := str(v, "type"); kind == "" || kind == "legacy" {
		return "registry"
	}
	return fmt.Sprintf("%s %s %s %s", str(v, "type"), str(v, "url"), str(v, "reference"), str(v, "resolved_reference"))
}

// plain writes any value; maps come in the order of their keys.
func plain(v *tomlfile.Value) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v.Any())
}
