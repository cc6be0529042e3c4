package wasm

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/owner"
	"github.com/bentobuild/bento/internal/rawfile"
)

// A store keeps compiled modules, which are native code, in a directory of the user's own.
//
// wazero reads compiled modules from a directory without a check against forgery. So it never reads the
// store. It gets a temporary directory of this process with one file, copied from the store after its code
// was checked. The code is an HMAC of the file under a key, which is a file of the store with mode 0600.
// The HMAC covers the inode of the directory and the user, so the key is valid only in the directory in
// which it was made. A store that was restored from an archive or an image, or copied from another
// machine, is compiled again. A process that can write to the directory as the user can replace bento
// itself.
//
// An entry is replaced in one step, so two processes need no lock: both store the same.
type store struct {
	path    string
	maxSize int64
	warn    func(message, hint string)

	once sync.Once
	dir  *owndir.Dir // nil: it cannot be used
	key  []byte
}

const (
	keyFile        = "key"
	entrySuffix    = ".compiled"
	defaultMaxSize = 1 << 30
	maxEntry       = 1 << 30
)

func newStore(o EngineOptions) *store {
	s := &store{path: o.Dir, maxSize: cmp.Or(o.MaxSize, defaultMaxSize), warn: o.Warn}
	if s.warn == nil {
		s.warn = func(string, string) {}
	}
	return s
}

// open opens the directory at its first use.
func (s *store) open() bool {
	s.once.Do(func() {
		if err := s.prepare(); err != nil {
			s.warn(fmt.Sprintf("compiled modules are not kept: %v", err), "remove or repair "+s.path)
			if s.dir != nil {
				s.dir.Close()
				s.dir = nil
			}
		}
	})
	return s.dir != nil
}

func (s *store) prepare() error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o755); err != nil {
		return err
	}
	parent, err := owndir.Open(filepath.Dir(s.path), &owner.Trusted{})
	if err != nil {
		return err
	}
	defer parent.Close()
	if err := os.Mkdir(s.path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if s.dir, err = parent.Enter(filepath.Base(s.path), false); err != nil {
		return err
	}
	info, err := os.Lstat(s.path)
	if err != nil {
		return err
	}
	if !owner.IsMine(info) || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s has the mode %#o and belongs to %s; required is 0700 and you", s.path, info.Mode().Perm(), owner.Name(info))
	}
	s.dir.Sweep()
	s.key, err = s.loadKey()
	return err
}

// loadKey returns the key of the store, bound to its directory. It makes a missing key.
func (s *store) loadKey() ([]byte, error) {
	f, info, err := s.dir.Open(keyFile)
	if errors.Is(err, fs.ErrNotExist) {
		if err := s.makeKey(); err != nil {
			return nil, err
		}
		f, info, err = s.dir.Open(keyFile)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	secret, err := io.ReadAll(io.LimitReader(f, 64))
	if err != nil {
		return nil, err
	}
	if len(secret) != 32 || info.Mode.Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s/%s is not the key that bento makes", s.path, keyFile)
	}
	key := binary.LittleEndian.AppendUint64(secret, info.Serial())
	return binary.LittleEndian.AppendUint64(key, uint64(os.Getuid())), nil
}

// makeKey makes the key whole and at once: of several processes the first one makes it.
func (s *store) makeKey() error {
	secret := make([]byte, 32)
	rand.Read(secret) //nolint:errcheck // it never fails
	temp := owndir.TempPrefix + owndir.RandomName()
	if err := s.dir.ReplaceAs(temp, owndir.Private, secret); err != nil {
		return err
	}
	defer s.dir.Remove(temp) //nolint:errcheck // Sweep removes it
	err := os.Link(filepath.Join(s.path, temp), filepath.Join(s.path, keyFile))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// load returns a cache for one module with its stored compilation, and a function that stores the compiled
// module after the cache has it. Both are nil if nothing can be kept.
func (s *store) load(name string) (cache wazero.CompilationCache, keep func()) {
	if !s.open() {
		return nil, nil
	}
	temp, err := s.dir.Temp()
	if err != nil {
		s.warn(fmt.Sprintf("a compiled module is not kept: %v", err), "see "+s.path)
		return nil, nil
	}
	cache, err = wazero.NewCompilationCacheWithDir(temp.Path())
	if err != nil {
		temp.Remove()
		return nil, nil
	}
	found := s.restore(name, temp.Path())
	return cache, func() {
		defer temp.Remove()
		if !found {
			s.save(name, temp.Path())
		}
	}
}

// An entry is its code, the length of the name of wazero's file, the name and the content of the file.

// restore copies the entry name to the directory of a cache. It returns false if the entry is missing or
// cannot be trusted.
func (s *store) restore(name, to string) bool {
	f, info, err := s.dir.Open(name + entrySuffix)
	if err != nil {
		return false
	}
	defer f.Close()
	defer s.dir.Touch(name+entrySuffix, time.Now())
	content, err := readExactly(f, info.Size)
	if err == nil {
		content, err = s.verified(name, content)
	}
	var file string
	if err == nil {
		file, content, err = split(content)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(to, filepath.FromSlash(file)), content, 0o600)
	}
	if errors.Is(err, fs.ErrNotExist) { // the directory of another version of wazero
		return false
	}
	if err != nil {
		s.warn(fmt.Sprintf("the compiled module %s is damaged and is compiled again: %v", filepath.Join(s.path, name+entrySuffix), err), "if this happens again, remove "+s.path)
		return false
	}
	return true
}

func readExactly(f *rawfile.File, size int64) ([]byte, error) {
	if size > maxEntry {
		return nil, fmt.Errorf("it has %d bytes; at most %d are read", size, maxEntry)
	}
	content := make([]byte, size)
	if _, err := io.ReadFull(f, content); err != nil {
		return nil, err
	}
	return content, nil
}

// verified returns the content of an entry without its code.
func (s *store) verified(name string, content []byte) ([]byte, error) {
	if len(content) < sha256.Size {
		return nil, errors.New("it is truncated")
	}
	if !hmac.Equal(content[:sha256.Size], s.code(name, content[sha256.Size:])) {
		return nil, errors.New("its code is not the one of this machine's key")
	}
	return content[sha256.Size:], nil
}

func (s *store) code(name string, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, s.key)
	fmt.Fprintf(h, "%d %s", len(name), name)
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

// split returns the path of wazero's file below its directory, and its content.
func split(content []byte) (file string, rest []byte, err error) {
	if len(content) < 2 {
		return "", nil, errors.New("it is truncated")
	}
	n := int(binary.LittleEndian.Uint16(content))
	if content = content[2:]; n > len(content) {
		return "", nil, errors.New("it is truncated")
	}
	if file = string(content[:n]); !filepath.IsLocal(filepath.FromSlash(file)) {
		return "", nil, fmt.Errorf("its name %q leads out of the directory", file)
	}
	return file, content[n:], nil
}

// save stores the one file that wazero has written below dir.
func (s *store) save(name, dir string) {
	files, _ := filepath.Glob(filepath.Join(dir, "wazero-*", "*"))
	if len(files) != 1 {
		return // it compiles nothing on this machine
	}
	file, err := filepath.Rel(dir, files[0])
	if err != nil {
		return
	}
	f, err := rawfile.Open(files[0])
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return
	}
	content, err := readExactly(f, info.Size)
	if err != nil {
		return
	}
	file = filepath.ToSlash(file)
	head := append(binary.LittleEndian.AppendUint16(nil, uint16(len(file))), file...)
	if err := s.dir.ReplaceAs(name+entrySuffix, owndir.Private, s.code(name, head, content), head, content); err != nil {
		s.warn(fmt.Sprintf("the compiled module %s is not kept: %v", name, err), "see "+s.path)
		return
	}
	s.prune()
}

// prune removes the entries that were used least recently until the rest fits.
func (s *store) prune() {
	type entry struct {
		name string
		info rawfile.Info
	}
	names, _ := s.dir.Names()
	var list []entry
	total := int64(0)
	for _, e := range names {
		if info, err := s.dir.Stat(e.Name()); err == nil && strings.HasSuffix(e.Name(), entrySuffix) {
			list = append(list, entry{e.Name(), info})
			total += info.Size
		}
	}
	slices.SortFunc(list, func(a, b entry) int {
		return cmp.Or(a.info.Modified.Compare(b.info.Modified), bytes.Compare([]byte(a.name), []byte(b.name)))
	})
	for _, e := range list {
		if total <= s.maxSize {
			return
		}
		if s.dir.Remove(e.name) == nil {
			total -= e.info.Size
		}
	}
}

func (s *store) close() {
	if s != nil && s.dir != nil {
		s.dir.Close()
	}
}
