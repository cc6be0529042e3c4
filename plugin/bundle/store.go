package bundle

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"time"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/rawfile"
	"github.com/bentobuild/bento/plugin/bundle/archive"
	"github.com/bentobuild/bento/plugin/bundle/manifest"
	"github.com/bentobuild/bento/plugin/bundle/seal"
)

// The names in the directory of a Store that are no ids.
const (
	lockName   = ".lock"
	tempName   = ".tmp"
	stateName  = "plugin-state.json"
	recordName = ".bento-package.json"
)

// Store is the directory of the installed packages: <id>/<version>/ for each, and the state file.
// Concurrent processes may use it. A method that changes it leaves the old or the new package when
// the process is killed, never a part of one.
type Store struct {
	Dir string // absolute; made when the first package is installed
	// Plugins is set for the packages of adapters. A Store has packages of one sort only.
	Plugins bool
	// Waiting is called once when another process has the lock; may be nil.
	Waiting func(lock string)
}

// command returns the command that has the packages of the Store.
func (s *Store) command() string {
	if s.Plugins {
		return "bento plugin"
	}
	return "bento tool"
}

// Accepts refuses a package of the other sort.
func (s *Store) Accepts(p *Package) error {
	switch {
	case s.Plugins && p.Kind != KindAdapter:
		return diagnostics.Refuse(RulePackage, "install it with bento tool add", "%s %s is the package of a tool, expected that of an adapter", p.ID, p.Version)
	case !s.Plugins && p.Kind == KindAdapter:
		return diagnostics.Refuse(RulePackage, "install it with bento plugin add", "%s %s is the package of an adapter, expected that of a tool", p.ID, p.Version)
	}
	return nil
}

// AddOptions are the source of a package and the user's requirements of it.
type AddOptions struct {
	Source        string // for the state file
	Keys          manifest.Keys
	Seals         []seal.Key // for the packages of adapters
	RequireSigned bool
}

// Added is the result of Add.
type Added struct {
	Dir       string // of the package
	Signature string // as manifest.CheckSignature; "" of a program
	Signer    string // of an adapter: the name of the key, or the id of an unknown one
	Already   bool   // the same package was there
}

// Add installs a package and makes it the active version. The same package again is no change;
// another one with the same version is refused.
func (s *Store) Add(ctx context.Context, p *Package, o AddOptions) (Added, error) {
	done := Added{Dir: filepath.Join(s.Dir, p.ID, p.Version)}
	var err error
	if err := s.Accepts(p); err != nil {
		return Added{}, err
	}
	if p.Kind == KindAdapter {
		done.Signature, done.Signer, err = p.sealed(o)
	} else {
		done.Signature, err = signature(p.ID+" "+p.Version, p.Module, o)
	}
	if err != nil {
		return Added{}, err
	}
	err = s.change(ctx, true, func(root *owndir.Dir) error {
		there, err := s.digestAt(root, p.ID, p.Version)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = s.place(root, p, o.Source)
		case err != nil:
		case there != p.Digest:
			return diagnostics.Refuse(RuleConflict, "raise the version; or first: "+s.command()+" remove "+p.ID+"@"+p.Version,
				"%s %s is installed with the digest %s, found %s", p.ID, p.Version, there, p.Digest)
		default:
			done.Already = true
		}
		if err != nil {
			return err
		}
		return activate(root, p.ID, p.Version, o.Source)
	})
	return done, err
}

// signature checks the signature of a package, whose name is for messages; m is nil for a program.
func signature(name string, m *manifest.Module, o AddOptions) (string, error) {
	const required = ", and your own configuration requires one"
	if m == nil && o.RequireSigned {
		return "", diagnostics.Refuse(RuleSignature, "the package of a program has no place for one; set require_signed = false in your own configuration, or use a module", "%s has no signature"+required, name)
	}
	if m == nil {
		return "", nil
	}
	result := m.CheckSignature(o.Keys)
	switch {
	case result == manifest.Forged:
		return "", diagnostics.Refuse(RuleSignature, "get the package again from its author", "%s: the trusted key %q has not signed this manifest", name, m.SigningKeyID)
	case result == manifest.Unsigned && o.RequireSigned:
		return "", diagnostics.Refuse(RuleSignature, "ask the author to sign it", "%s has no signature"+required, name)
	case result == manifest.Untrusted && o.RequireSigned:
		return "", diagnostics.Refuse(RuleSignature, "add the author's public key to [tools] trusted_keys of your own configuration, if you trust it",
			"%s is signed with the key %.100q, which you do not trust", name, m.SigningKeyID)
	}
	return result, nil
}

// change calls do with the open directory while this process has its lock. A missing directory is
// fs.ErrNotExist unless create is set.
func (s *Store) change(ctx context.Context, create bool, do func(*owndir.Dir) error) error {
	if create {
		if err := rawfile.MkdirAll(s.Dir, 0o700); err != nil {
			return err
		}
	}
	root, err := owndir.OpenOwn(s.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	lock, _, err := root.Update(lockName, owndir.Private)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := s.acquire(ctx, lock); err != nil {
		return err
	}
	if temp, err := root.Enter(tempName, false); err == nil {
		temp.Sweep()
		temp.Close()
	}
	return do(root)
}

// acquire takes the lock. It tries again at ever longer intervals.
func (s *Store) acquire(ctx context.Context, lock *rawfile.File) error {
	waiting := s.Waiting
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := lock.TryLock()
		if !errors.Is(err, rawfile.ErrLocked) {
			return err
		}
		if waiting != nil {
			waiting(lock.Name())
			waiting = nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// record is bento's note about an installed package, in its directory.
type record struct {
	Kind   string       `json:"kind"`
	Digest string       `json:"digest"`
	Source string       `json:"source"`
	Key    string       `json:"key,omitempty"` // the fingerprint of the key that has signed an adapter
	Files  []fileRecord `json:"files"`
}

// place writes a package beside its place and moves it there.
func (s *Store) place(root *owndir.Dir, p *Package, source string) error {
	rec, err := json.Marshal(record{p.Kind, p.Digest, source, p.signedBy, p.records()})
	if err != nil {
		return err
	}
	temps, err := root.Enter(tempName, true)
	if err != nil {
		return err
	}
	defer temps.Close()
	temp, err := temps.Temp()
	if err != nil {
		return err
	}
	defer temp.Remove()
	staged, err := temp.Enter("package", true)
	if err != nil {
		return err
	}
	defer staged.Close()
	for _, f := range append(p.files, archive.File{Name: recordName, Data: rec}) {
		if err := write(staged, f); err != nil {
			return err
		}
	}
	versions, err := root.Enter(p.ID, true)
	if err != nil {
		return err
	}
	defer versions.Close()
	return temp.Move("package", versions, p.Version)
}

func write(dir *owndir.Dir, f archive.File) error {
	if below := path.Dir(f.Name); below != "." {
		var err error
		if dir, err = dir.Below(below, true); err != nil {
			return err
		}
		defer dir.Close()
	}
	perm := fs.FileMode(0o644)
	if f.Exec {
		perm = 0o755
	}
	out, err := dir.Create(path.Base(f.Name), perm)
	if err != nil {
		return err
	}
	_, err = out.Write(f.Data)
	return cmp.Or(err, out.Close())
}

// digestAt returns the digest of an installed package, fs.ErrNotExist if it is missing.
func (s *Store) digestAt(root *owndir.Dir, id, version string) (string, error) {
	dir, err := root.Below(id+"/"+version, false)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	f, err := readPackage(dir)
	if err != nil {
		return "", fmt.Errorf("%s %s is installed and damaged; first: %s remove %s@%s: %w", id, version, s.command(), id, version, err)
	}
	return f.Digest, nil
}

// maxRecord bounds the record of a package: 4096 files with names of 1000 bytes.
const maxRecord = 8 << 20

// readSmall returns the content of a regular file. It follows no link.
func readSmall(dir *owndir.Dir, name string, limit int64) ([]byte, error) {
	f, _, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%q has more than %d bytes", f.Name(), limit)
	}
	return data, err
}
