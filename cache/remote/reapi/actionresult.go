package reapi

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bentobuild/bento/cache/remote"
)

// ActionResult is what a server says about an executed action. Nothing of it was checked but its form.
type ActionResult struct {
	ExitCode int
	Files    []File // paths are relative to the working directory
	Links    []Link
	Dirs     []Dir
	Stdout   Stream
	Stderr   Stream

	// Queued and Started are when the server and its worker began with the action, Began and Ended the times of the command, by
	// their clocks; zero if they do not say.
	Queued, Started, Began, Ended time.Time
}

// File is a file of outputs or of a Directory.
type File struct {
	Path   string // or its name in a Directory
	Digest remote.Digest
	Exec   bool
	Mode   uint32 // permission bits, 0 if unknown
}

// Link is a symbolic link.
type Link struct{ Path, Target string }

// Dir is a directory. Its digest is that of a Tree in an ActionResult, and that of a Directory in another one.
type Dir struct {
	Path   string
	Digest remote.Digest
}

// Stream is what a command has printed: Raw, or the blob with the Digest.
type Stream struct {
	Raw    []byte
	Digest remote.Digest
}

// DecodeActionResult reads an ActionResult: output_files = 2, output_directories = 3, exit_code = 4, stdout = 5 and 6,
// stderr = 7 and 8, execution_metadata = 9, links = 10, 11 and 12.
func DecodeActionResult(message []byte) (*ActionResult, error) {
	r := new(ActionResult)
	err := fields(message, func(f field) error {
		if f.is(4, protowire.VarintType) {
			r.ExitCode = int(int32(f.n))
		}
		if f.kind == protowire.BytesType {
			return r.decodeField(f)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("a result: %w", err)
	}
	return r, nil
}

func (r *ActionResult) decodeField(f field) (err error) {
	switch f.number {
	case 2:
		var file File
		file, err = decodeFile(f.data, 7)
		r.Files = append(r.Files, file)
	case 3:
		var dir Dir
		dir, err = decodeDir(f.data, 3)
		r.Dirs = append(r.Dirs, dir)
	case 5:
		r.Stdout.Raw = bytes.Clone(f.data)
	case 6:
		r.Stdout.Digest, err = decodeDigest(f.data)
	case 7:
		r.Stderr.Raw = bytes.Clone(f.data)
	case 8:
		r.Stderr.Digest, err = decodeDigest(f.data)
	case 9:
		return r.decodeMetadata(f.data)
	case 10, 11, 12:
		var link Link
		link, err = decodeLink(f.data)
		r.Links = append(r.Links, link)
	}
	return err
}

// decodeFile reads an OutputFile or a FileNode: path or name = 1, digest = 2, is_executable = 4, node_properties.
func decodeFile(message []byte, properties protowire.Number) (file File, err error) {
	err = fields(message, func(f field) (err error) {
		switch {
		case f.is(1, protowire.BytesType):
			file.Path = string(f.data)
		case f.is(2, protowire.BytesType):
			file.Digest, err = decodeDigest(f.data)
		case f.is(4, protowire.VarintType):
			file.Exec = f.n != 0
		case f.is(properties, protowire.BytesType):
			file.Mode, err = decodeMode(f.data)
		}
		return err
	})
	return file, err
}

// decodeMode reads NodeProperties: unix_mode = 3, a UInt32Value.
func decodeMode(message []byte) (mode uint32, err error) {
	err = fields(message, func(f field) error {
		if !f.is(3, protowire.BytesType) {
			return nil
		}
		return fields(f.data, func(f field) error {
			if f.is(1, protowire.VarintType) {
				mode = uint32(f.n) & 0o777
			}
			return nil
		})
	})
	return mode, err
}

// decodeDir reads an OutputDirectory or a DirectoryNode: path or name = 1, and a digest.
func decodeDir(message []byte, digest protowire.Number) (dir Dir, err error) {
	err = fields(message, func(f field) (err error) {
		switch {
		case f.is(1, protowire.BytesType):
			dir.Path = string(f.data)
		case f.is(digest, protowire.BytesType):
			dir.Digest, err = decodeDigest(f.data)
		}
		return err
	})
	return dir, err
}

// decodeLink reads an OutputSymlink or a SymlinkNode: path or name = 1, target = 2.
func decodeLink(message []byte) (link Link, err error) {
	err = fields(message, func(f field) error {
		switch {
		case f.is(1, protowire.BytesType):
			link.Path = string(f.data)
		case f.is(2, protowire.BytesType):
			link.Target = string(f.data)
		}
		return nil
	})
	return link, err
}

// decodeMetadata reads ExecutedActionMetadata: queued_timestamp = 2, worker_start_timestamp = 3,
// execution_start_timestamp = 7, execution_completed_timestamp = 8.
func (r *ActionResult) decodeMetadata(message []byte) error {
	return fields(message, func(f field) (err error) {
		if f.kind != protowire.BytesType {
			return nil
		}
		switch f.number {
		case 2:
			r.Queued, err = decodeTime(f.data)
		case 3:
			r.Started, err = decodeTime(f.data)
		case 7:
			r.Began, err = decodeTime(f.data)
		case 8:
			r.Ended, err = decodeTime(f.data)
		}
		return err
	})
}

// decodeTime reads a Timestamp: seconds = 1, nanos = 2.
func decodeTime(message []byte) (time.Time, error) {
	var seconds, nanos int64
	err := fields(message, func(f field) error {
		switch {
		case f.is(1, protowire.VarintType):
			seconds = int64(f.n)
		case f.is(2, protowire.VarintType):
			nanos = int64(int32(f.n))
		}
		return nil
	})
	if err != nil || seconds == 0 && nanos == 0 {
		return time.Time{}, err
	}
	return time.Unix(seconds, nanos), nil
}

// Directory is the content of a directory.
type Directory struct {
	Files []File
	Dirs  []Dir
	Links []Link
}

// maxDepth is the largest number of directories in each other that DecodeTree accepts.
const maxDepth = 256

// DecodeTree reads a Tree, and calls take for each directory in it with its path, "" for the first, before those in it.
func DecodeTree(message []byte, take func(path string, d *Directory) error) error {
	var root []byte
	children := make(map[remote.Digest][]byte)
	err := fields(message, func(f field) error {
		switch {
		case f.is(1, protowire.BytesType):
			root = f.data
		case f.is(2, protowire.BytesType):
			children[remote.Sum(f.data)] = f.data
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("a tree: %w", err)
	}
	return walkTree(root, "", children, maxDepth, take)
}

func walkTree(message []byte, at string, children map[remote.Digest][]byte, depth int, take func(string, *Directory) error) error {
	if depth == 0 {
		return errors.New("a tree with too many directories in each other")
	}
	d, err := decodeDirectory(message)
	if err != nil {
		return fmt.Errorf("a directory: %w", err)
	}
	if err := take(at, d); err != nil {
		return err
	}
	for _, sub := range d.Dirs {
		child, known := children[sub.Digest]
		if !known && sub.Digest.Size != 0 {
			return fmt.Errorf("a tree lacks its directory %s", text(sub.Digest))
		}
		below := sub.Path
		if at != "" {
			below = at + "/" + sub.Path
		}
		if err := walkTree(child, below, children, depth-1, take); err != nil {
			return err
		}
	}
	return nil
}

// decodeDirectory reads a Directory: files = 1, directories = 2, symlinks = 3.
func decodeDirectory(message []byte) (*Directory, error) {
	d := new(Directory)
	err := fields(message, func(f field) (err error) {
		if f.kind != protowire.BytesType {
			return nil
		}
		switch f.number {
		case 1:
			var file File
			file, err = decodeFile(f.data, 6)
			d.Files = append(d.Files, file)
		case 2:
			var dir Dir
			dir, err = decodeDir(f.data, 2)
			d.Dirs = append(d.Dirs, dir)
		case 3:
			var link Link
			link, err = decodeLink(f.data)
			d.Links = append(d.Links, link)
		}
		return err
	})
	return d, err
}
