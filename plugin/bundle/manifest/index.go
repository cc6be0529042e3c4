package manifest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/jsonfile"
)

// MaxIndex is the largest size of the index of a registry in bytes.
const MaxIndex = 16 << 20

// Index is the index of a registry: releases by the id of their package.
type Index map[string][]Release

// Release is one version in an index.
type Release struct {
	ID, Version   string
	URL           string // absolute, or relative to the index
	SHA256        string // of the archive, lower case
	Size          int64  // of the archive in bytes; 0 if the index does not state it
	MinRuntimeAPI int
	MaxRuntimeAPI int
}

// ReadIndex reads an index: an object with the list "plugins", such a list, or one entry of it. path
// is its name in messages. The error is a diagnostics.Problems.
func ReadIndex(path string, data []byte) (Index, error) {
	root, err := jsonfile.Parse(path, data)
	if err != nil {
		return nil, err
	}
	r := &reader{path: path, root: root}
	list := []*jsonfile.Value{root}
	switch {
	case root.Kind() == jsonfile.Array:
		list = root.Items()
	case root.Kind() != jsonfile.Object:
		return nil, diagnostics.Problems{root.Mistyped(path, path, "an object or a list")}
	case root.Get("plugins") != nil:
		if !r.is("plugins", jsonfile.Array, "a list") {
			return nil, r.err()
		}
		list = root.Get("plugins").Items()
	}
	ix := make(Index)
	for _, v := range list {
		if v.Kind() != jsonfile.Object {
			r.problems = append(r.problems, v.Mistyped(path, "plugins", "a list of objects"))
			continue
		}
		inner := r.below(v)
		inner.entry(ix)
		r.join(inner)
	}
	return ix, r.err()
}

// entry reads one package of an index.
func (r *reader) entry(ix Index) {
	id := r.text("id")
	if !ValidID(id) {
		r.fail("id", "plugin id %.120q is not valid, expected "+idWanted, id)
	}
	if _, twice := ix[id]; twice {
		r.fail("id", "plugin id %.120q occurs twice", id)
		return
	}
	ix[id] = nil
	r.objects("versions", func(r *reader) {
		rel := Release{
			ID: id, Version: r.text("version"), URL: r.text("download_url"), SHA256: strings.ToLower(r.text("sha256")),
			MinRuntimeAPI: r.integer("min_runtime_api"), MaxRuntimeAPI: r.integer("max_runtime_api"),
		}
		if !ValidVersion(rel.Version) {
			r.fail("version", "version %.120q is not valid, expected "+versionWanted, rel.Version)
		}
		if rel.URL == "" {
			r.fail("download_url", "download_url is missing, expected the address of the package")
		}
		if !isHex(rel.SHA256, 64) {
			r.fail("sha256", "sha256 must be a 64-char hex digest")
		}
		if r.is("size_bytes", jsonfile.Number, "a number") {
			var err error
			if rel.Size, err = strconv.ParseInt(r.root.Get("size_bytes").Literal(), 10, 64); err != nil || rel.Size < 0 {
				r.fail("size_bytes", "size_bytes is no number of bytes")
			}
		}
		if slices.ContainsFunc(ix[id], func(o Release) bool { return o.Version == rel.Version }) {
			r.fail("version", "version %s of %s occurs twice", rel.Version, id)
		}
		ix[id] = append(ix[id], rel)
	})
}

// Choose returns the highest release that fulfils a requirement and runs on this bento.
func (ix Index) Choose(id string, want Requirement) (Release, error) {
	list := slices.Clone(ix[id])
	slices.SortFunc(list, func(a, b Release) int { return Compare(b.Version, a.Version) })
	var newer *Module
	var names []string
	for _, r := range list {
		if names = append(names, r.Version); !want.Accepts(r.Version) {
			continue
		}
		m := &Module{ID: id, Version: r.Version, MinRuntimeAPI: r.MinRuntimeAPI, MaxRuntimeAPI: r.MaxRuntimeAPI}
		if m.Compatible() == nil {
			return r, nil
		}
		if newer == nil {
			newer = m
		}
	}
	if newer != nil {
		return Release{}, newer.Compatible()
	}
	message, hint := "the index has no package "+strconv.Quote(id), ""
	if len(list) > 0 {
		message = "the index has no version of " + id + " that fulfils " + strconv.Quote(want.String()) + ", found " + diagnostics.Few(names)
	} else {
		ids := make([]string, 0, len(ix))
		for known := range ix {
			ids = append(ids, known)
		}
		slices.Sort(ids)
		hint = diagnostics.Suggest(id, ids)
	}
	return Release{}, diagnostics.Refuse(RuleNotIndexed, hint, "%s", message)
}
