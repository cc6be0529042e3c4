package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"time"
)

// file is a file of an archive.
type file struct {
	path    string
	data    []byte
	program bool // it may be executed
}

func (f file) mode() int64 {
	if f.program {
		return 0o755
	}
	return 0o644
}

// tarball returns a tar archive of files, in their order, below dir ("" for none). It names no user, and all
// times are date.
func tarball(dir string, files []file, date time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: dir + f.path, Mode: f.mode(), Size: int64(len(f.data)), ModTime: date, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// gzipped compresses data without a name or a time.
func gzipped(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// tarGz is tarball, compressed.
func tarGz(dir string, files []file, date time.Time) ([]byte, error) {
	data, err := tarball(dir, files, date)
	if err != nil {
		return nil, err
	}
	return gzipped(data)
}

// zipped returns a zip archive of files, in their order.
func zipped(files []file, date time.Time) ([]byte, error) {
	if first := time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC); date.Before(first) {
		date = first // zip knows no earlier time
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.path, Method: zip.Deflate, Modified: date}
		h.ExternalAttrs = uint32(0o100000|f.mode()) << 16
		h.CreatorVersion = 3 << 8 // Unix: the attributes have a mode
		in, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := in.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// archiveName returns the name of the archive of a platform.
func (r *release) archiveName(p platform) string {
	return "bento-" + r.version + "-" + p.os + "-" + p.arch + ".tar.gz"
}

// archives writes an archive for each platform: the program, its completions, manual pages, licence and
// README.
func (r *release) archives(context.Context) error {
	for _, b := range r.builds {
		files := []file{{path: "bento", data: b.program, program: true}}
		for _, name := range []string{"LICENSE", "README.md"} {
			data, err := r.text(name)
			if err != nil {
				return err
			}
			files = append(files, file{path: name, data: data})
		}
		name := r.archiveName(b.platform)
		data, err := tarGz("bento-"+r.version+"-"+b.os+"-"+b.arch+"/", append(files, r.pages...), r.date)
		if err != nil {
			return err
		}
		if err := r.write(name, data); err != nil {
			return err
		}
	}
	return nil
}
