package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
)

// pypiName is the name of the distribution. A file name has it with an underscore (PEP 427).
const pypiName = "bento-build"

// wheelTags are the platform tags: a static program runs with either libc, and Go needs macOS 12.
func wheelTags(p platform) []string {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[p.arch]
	if p.os == "linux" {
		return []string{"manylinux_2_17_" + arch, "manylinux2014_" + arch, "musllinux_1_1_" + arch}
	}
	if p.arch == "arm64" {
		arch = "arm64"
	}
	return []string{"macosx_12_0_" + arch}
}

// wheels writes a wheel for each platform. Its program is a script of the distribution: installers put it
// beside python, and it starts without Python.
func (r *release) wheels(context.Context) error {
	readme, err := r.text("README.md")
	if err != nil {
		return err
	}
	licence, err := r.text("LICENSE")
	if err != nil {
		return err
	}
	base := strings.ReplaceAll(pypiName, "-", "_") + "-" + r.version
	info := base + ".dist-info/"
	for _, b := range r.builds {
		tags := wheelTags(b.platform)
		metadata := "Metadata-Version: 2.1\nName: " + pypiName + "\nVersion: " + r.version + "\nSummary: " + about + "\nHome-page: " + homepage +
			"\nLicense: Apache-2.0\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n" + string(readme)
		wheel := "Wheel-Version: 1.0\nGenerator: bento\nRoot-Is-Purelib: false\n"
		for _, tag := range tags {
			wheel += "Tag: py3-none-" + tag + "\n"
		}
		files := []file{
			{path: base + ".data/scripts/bento", data: b.program, program: true},
			{path: info + "METADATA", data: []byte(metadata)},
			{path: info + "WHEEL", data: []byte(wheel)},
			{path: info + "licenses/LICENSE", data: licence},
		}
		files = append(files, file{path: info + "RECORD", data: wheelRecord(files, info+"RECORD")})
		data, err := zipped(files, r.date)
		if err != nil {
			return err
		}
		if err := r.write(base+"-py3-none-"+strings.Join(tags, ".")+".whl", data); err != nil {
			return err
		}
	}
	return nil
}

// wheelRecord returns the list of files with their digests; it has none of its own.
func wheelRecord(files []file, self string) []byte {
	var b strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&b, "%s,sha256=%s,%d\n", f.path, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	return []byte(b.String() + self + ",,\n")
}
