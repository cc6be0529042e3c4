package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/owner"
	"github.com/bentobuild/bento/plugin/bundle/manifest"
)

// Verification is the result of checking an installed package.
type Verification struct {
	Found
	Signature string   // as manifest.CheckSignature; "" of a program
	Problems  []string // none: the files are those of the package
	Notes     []string // faults that bento ignores
}

// Verify reads all files of a package and compares them with its manifest, and with the record of the
// installation.
func Verify(f Found, keys manifest.Keys) (*Verification, error) {
	v := &Verification{Found: f}
	dir, err := owndir.Open(f.Dir, &owner.Trusted{})
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	var unknown []string
	if f.Module != nil {
		unknown, v.Signature = f.Module.Unknown, f.Module.CheckSignature(keys)
		if v.Signature == manifest.Forged {
			v.Problems = append(v.Problems, fmt.Sprintf("the trusted key %q has not signed this manifest", f.Module.SigningKeyID))
		}
	} else if f.Process != nil {
		unknown = f.Process.Unknown
	} else {
		unknown = f.Adapter.Unknown
	}
	for _, key := range unknown {
		v.Notes = append(v.Notes, fmt.Sprintf("the key %q of the manifest is not known and ignored", key))
	}
	if len(f.files) == 0 {
		v.module(dir)
		return v, nil
	}
	v.compare(dir)
	return v, v.extra(dir, "", 0)
}

// module checks a module that bento has not installed.
func (v *Verification) module(dir *owndir.Dir) {
	m := v.Module
	if m.Unset() {
		v.Notes = append(v.Notes, "the manifest states no digest")
		return
	}
	v.file(dir, fileRecord{Path: m.WasmFile, SHA256: m.WasmSHA256, Size: -1})
}

func (v *Verification) compare(dir *owndir.Dir) {
	for _, r := range v.files {
		v.file(dir, r)
	}
	if v.Module != nil && v.stated(v.Module.WasmFile) != v.Module.WasmSHA256 {
		v.Problems = append(v.Problems, fmt.Sprintf("%q was installed with another digest than the manifest states", v.Module.WasmFile))
	}
}

// file compares one file. A size of -1 is unknown.
func (v *Verification) file(dir *owndir.Dir, want fileRecord) {
	at := dir
	if below := path.Dir(want.Path); below != "." {
		var err error
		if at, err = dir.Below(below, false); err != nil {
			v.Problems = append(v.Problems, fmt.Sprintf("%q: %v", want.Path, err))
			return
		}
		defer at.Close()
	}
	name := path.Base(want.Path)
	info, err := at.Stat(name)
	if err == nil && want.Size >= 0 && info.Size != want.Size {
		err = fmt.Errorf("it has %d bytes, expected %d", info.Size, want.Size)
	}
	got := ""
	if err == nil {
		got, err = digestFile(at, name, info.Size)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.Problems = append(v.Problems, fmt.Sprintf("%q is missing, or no regular file of yours", want.Path))
	case err != nil:
		v.Problems = append(v.Problems, fmt.Sprintf("%q: %v", want.Path, err))
	case got != want.SHA256:
		v.Problems = append(v.Problems, fmt.Sprintf("integrity check failed for `%s`: checksum mismatch: its sha256 is %s, expected %s", want.Path, got, want.SHA256))
	case want.Exec && info.Mode&0o100 == 0:
		v.Problems = append(v.Problems, fmt.Sprintf("%q cannot be executed", want.Path))
	}
}

// maxDepth bounds the directories of a package, whose names have at most 1000 bytes.
const maxDepth = 500

// extra reports files that the package does not contain.
func (v *Verification) extra(dir *owndir.Dir, prefix string, depth int) error {
	entries, err := dir.Names()
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := prefix + e.Name()
		known := name == recordName || slices.ContainsFunc(v.files, func(r fileRecord) bool {
			return r.Path == name || strings.HasPrefix(r.Path, name+"/")
		})
		if !known || depth > maxDepth {
			v.Problems = append(v.Problems, fmt.Sprintf("%q is not in the package", name))
			continue
		}
		if !e.IsDir() {
			continue
		}
		below, err := dir.Enter(e.Name(), false)
		if err != nil {
			return err
		}
		err = v.extra(below, name+"/", depth+1)
		below.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
