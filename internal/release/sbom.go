package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// about is the one sentence of every package.
const about = "Build repositories of several languages, with a content-addressed cache"

// homepage is where the source and the releases are.
const homepage = "https://github.com/bentobuild/bento"

// component is a module in the bill of materials.
type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
}

// materials writes the bill of materials in CycloneDX 1.5: the modules that the programs are linked from, and
// the version of Go, as the programs themselves say.
func (r *release) materials(context.Context) error {
	seen := make(map[string]component)
	for _, p := range r.platforms {
		info, err := buildinfo.ReadFile(filepath.Join(r.work, "bento-"+p.os+"-"+p.arch))
		if err != nil {
			return err
		}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			purl := "pkg:golang/" + m.Path + "@" + m.Version
			seen[purl] = component{"library", purl, m.Path, m.Version, purl}
		}
		purl := "pkg:golang/stdlib@" + strings.TrimPrefix(info.GoVersion, "go")
		seen[purl] = component{"library", purl, "stdlib", info.GoVersion, purl}
	}
	list := make([]component, 0, len(seen))
	for _, c := range seen {
		list = append(list, c)
	}
	slices.SortFunc(list, func(x, y component) int { return strings.Compare(x.PURL, y.PURL) })
	purl := "pkg:golang/github.com/bentobuild/bento@v" + r.version
	doc := map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata": map[string]any{
			"timestamp": r.date.Format(time.RFC3339),
			"component": component{"application", purl, "github.com/bentobuild/bento", "v" + r.version, purl},
		},
		"components": list,
	}
	data, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	return r.write("bento-"+r.version+".cdx.json", append(data, '\n'))
}

// sumsName is the file of checksums, which is what is signed.
const sumsName = "SHA256SUMS"

// sums writes the checksums of all results so far, as sha256sum prints them.
func (r *release) sums(context.Context) error {
	slices.Sort(r.names)
	var b strings.Builder
	for _, name := range r.names {
		sum, err := r.sum(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s  %s\n", sum, name)
	}
	return r.write(sumsName, []byte(b.String()))
}

// sum returns the SHA-256 of a result, in hexadecimal digits.
func (r *release) sum(name string) (string, error) {
	data, err := readResult(r.out, name)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256(data)), nil
}
