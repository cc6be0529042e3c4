package archive

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
)

// Read reads the files of an archive, a tar or a zip.
func Read(data []byte, l Limits) ([]File, error) {
	isZip := bytes.HasPrefix(data, []byte("PK\x03\x04")) || bytes.HasPrefix(data, []byte("PK\x05\x06"))
	if l = l.or(MaxSize); isZip {
		l.Packed, l.Expanded = min(l.Packed, MaxBundle), min(l.Expanded, MaxBundle)
	}
	switch {
	case int64(len(data)) > l.Packed:
		return nil, fmt.Errorf("the archive has more than %d bytes", l.Packed)
	case isZip:
		return readZip(data, l)
	case bytes.HasPrefix(data, []byte("\x1f\x8b")), bytes.HasPrefix(data, []byte("BZh")),
		bytes.HasPrefix(data, []byte("\xfd7zXZ\x00")), bytes.HasPrefix(data, []byte("\x28\xb5\x2f\xfd")):
		return nil, fmt.Errorf("the archive is compressed, expected an uncompressed tar, or a zip")
	}
	return readTar(data, l)
}

func readTar(data []byte, l Limits) ([]File, error) {
	c, r := newContents(l), tar.NewReader(bytes.NewReader(data))
	for {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("the archive is neither a tar nor a zip, or damaged: %w", err)
		}
		if err := c.tarEntry(h, r); err != nil {
			return nil, err
		}
	}
	if c.entries == 0 {
		return nil, fmt.Errorf("the archive has no files, expected a tar or a zip")
	}
	return c.done(), nil
}

func (c *contents) tarEntry(h *tar.Header, r io.Reader) error {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return fmt.Errorf("entry %.200q: a sparse file, expected a plain one", h.Name)
		}
	}
	if h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeDir {
		return fmt.Errorf("entry %.200q: %s, expected regular files and directories only", h.Name, tarKind(h.Typeflag))
	}
	name, err := c.enter(h.Name, h.Typeflag == tar.TypeDir)
	if err != nil || h.Typeflag == tar.TypeDir {
		return err
	}
	if err := c.grow(h.Size); err != nil {
		return err
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("entry %.200q: %w", h.Name, err)
	}
	c.add(File{Name: name, Data: data, Exec: h.Mode&0o111 != 0})
	return nil
}

func tarKind(flag byte) string {
	switch flag {
	case tar.TypeSymlink:
		return "a symbolic link"
	case tar.TypeLink:
		return "a hard link"
	case tar.TypeChar, tar.TypeBlock:
		return "a device"
	case tar.TypeFifo:
		return "a named pipe"
	case tar.TypeGNUSparse:
		return "a sparse file"
	}
	return fmt.Sprintf("an entry of type %q", flag)
}

// WriteTar writes the files as an uncompressed tar in their order. The same files make the same
// bytes.
func WriteTar(w io.Writer, files []File) error {
	t := tar.NewWriter(w)
	for _, f := range files {
		mode := int64(0o644)
		if f.Exec {
			mode = 0o755
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.Name, Size: int64(len(f.Data)), Mode: mode, ModTime: time.Unix(0, 0)}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(f.Data); err != nil {
			return err
		}
	}
	return t.Close()
}
