package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/md5"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// debs writes a Debian package for each architecture of Linux: the program, its manual pages and
// completions. Format: deb(5).
func (r *release) debs(context.Context) error {
	licence, err := r.text("LICENSE")
	if err != nil {
		return err
	}
	for _, b := range r.builds {
		if b.os != "linux" {
			continue
		}
		files := []file{
			{path: "usr/bin/bento", data: b.program, program: true},
			{path: "usr/share/doc/bento-build/copyright", data: licence},
		}
		for _, p := range r.pages {
			f, err := debPage(p)
			if err != nil {
				return err
			}
			files = append(files, f)
		}
		slices.SortFunc(files, func(x, y file) int { return strings.Compare(x.path, y.path) })
		data, err := deb(r.version, b.arch, files, r.date)
		if err != nil {
			return err
		}
		if err := r.write("bento-build_"+r.version+"_"+b.arch+".deb", data); err != nil {
			return err
		}
	}
	return nil
}

// debPage returns where Debian expects a completion or a manual page.
func debPage(f file) (file, error) {
	name := path.Base(f.path)
	switch {
	case strings.HasSuffix(name, ".bash"):
		return file{path: "usr/share/bash-completion/completions/bento", data: f.data}, nil
	case strings.HasSuffix(name, ".fish"):
		return file{path: "usr/share/fish/vendor_completions.d/bento.fish", data: f.data}, nil
	case name == "_bento":
		return file{path: "usr/share/zsh/vendor-completions/_bento", data: f.data}, nil
	}
	data, err := gzipped(f.data)
	return file{path: "usr/share/man/man1/" + name + ".gz", data: data}, err
}

// deb returns a package. Its parts are an ar archive of a version, the control files and the files.
func deb(version, arch string, files []file, date time.Time) ([]byte, error) {
	size, sums := 0, ""
	for _, f := range files {
		size += len(f.data)
		sums += fmt.Sprintf("%x  %s\n", md5.Sum(f.data), f.path)
	}
	control := "Package: bento-build\nVersion: " + version + "\nArchitecture: " + arch + "\nMaintainer: bento <" + homepage + ">\nInstalled-Size: " +
		fmt.Sprint((size+1023)/1024) + "\nRecommends: git\nSection: devel\nPriority: optional\nHomepage: " + homepage + "\nDescription: " + about +
		"\n It plans and runs the tasks of a repository in several languages, and restores\n results that exist already from a content-addressed cache.\n"
	head, err := debTar([]file{{path: "control", data: []byte(control)}, {path: "md5sums", data: []byte(sums)}}, date)
	if err != nil {
		return nil, err
	}
	body, err := debTar(files, date)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, part := range []struct {
		name string
		data []byte
	}{{"debian-binary", []byte("2.0\n")}, {"control.tar.gz", head}, {"data.tar.gz", body}} {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", part.name, date.Unix(), 0, 0, "100644", len(part.data))
		b.Write(part.data)
		if len(part.data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes(), nil
}

// debTar returns a compressed archive of files and of the directories above them, all of root.
func debTar(files []file, date time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	dirs := make(map[string]bool)
	for _, f := range files {
		for i, c := range f.path + "/" {
			dir := f.path[:min(i, len(f.path))]
			if c != '/' || dir == f.path || dirs[dir] {
				continue
			}
			dirs[dir] = true
			if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "./" + dir + "/", Mode: 0o755, ModTime: date, Uname: "root", Gname: "root", Format: tar.FormatGNU}); err != nil {
				return nil, err
			}
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: "./" + f.path, Mode: f.mode(), Size: int64(len(f.data)), ModTime: date, Uname: "root", Gname: "root", Format: tar.FormatGNU}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return gzipped(b.Bytes())
}
