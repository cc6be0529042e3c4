package kit

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/plugin/host"
)

// toolIdentity computes the identity of a tool.
type toolIdentity struct {
	digests *host.Digests
	files   []string // absolute; the executable or module first
	pin     string   // the required digest of the first file, "" for none
	most    int64    // bytes of a file; 0: maxProgram
	within  string   // a directory below which no link may lead to a file; "" follows links
	terms   []dish.Term

	stats []string // the stats of files when they were read
}

// once returns a function that computes the identity once, for all tasks of the tool.
func (i *toolIdentity) once() func() (dish.ToolIdentity, error) {
	return sync.OnceValues(func() (dish.ToolIdentity, error) {
		sum, err := i.digest()
		if err == nil {
			_ = i.digests.Save() // after a failure, the next command reads the files again
		}
		return dish.ToolIdentity{Digest: "sha256:" + sum, Terms: i.terms}, err
	})
}

// digest returns the digest of the only file, or one made from those of several.
func (i *toolIdentity) digest() (string, error) {
	sums := make([]string, len(i.files))
	for n, file := range i.files {
		if !filepath.IsAbs(file) {
			return "", fmt.Errorf("the program %q is not on PATH", file)
		}
		if err := i.check(file); err != nil {
			return "", err
		}
		text, _ := host.Stat(file)
		i.stats = append(i.stats, text)
		sums[n] = i.digests.Executable(file)
	}
	if i.pin != "" && sums[0] != i.pin {
		return "", fmt.Errorf("the sha256 of %q is %s, expected %s", i.files[0], sums[0], i.pin)
	}
	if len(sums) == 1 {
		return sums[0], nil
	}
	sum := sha256.Sum256([]byte(strings.Join(sums, "\n")))
	return hex.EncodeToString(sum[:]), nil
}

// maxProgram is the maximal size in bytes of a file of a program.
const maxProgram = 1 << 30

// check returns an error for a file that must not be read: no regular file, a file larger than the limit, or a file
// behind a link where none is followed.
func (i *toolIdentity) check(file string) error {
	fi, err := i.stat(file)
	most := cmp.Or(i.most, maxProgram)
	switch {
	case err != nil:
		return err
	case !fi.Mode().IsRegular():
		return fmt.Errorf("%q is no regular file", file)
	case fi.Size() > most:
		return fmt.Errorf("%q has %d bytes, expected at most %d", file, fi.Size(), most)
	}
	return nil
}

func (i *toolIdentity) stat(file string) (fs.FileInfo, error) {
	if i.within == "" {
		return os.Stat(file)
	}
	f, err := clone.At(i.within).OpenDirect(file)
	var behind *clone.LinkError
	if errors.As(err, &behind) {
		return nil, fmt.Errorf("the module lies behind a link: %w", err)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Stat()
}

// changed reports whether a file has changed since it was read for the digest.
func (i *toolIdentity) changed() bool {
	return slices.ContainsFunc(i.files, func(file string) bool {
		text, _ := host.Stat(file)
		return !slices.Contains(i.stats, text)
	})
}

// grants returns the permissions of a tool as terms of its identity.
func grants(own config.Tool, env adapters.Environ) []dish.Term {
	sorted := func(list []string) string { return strings.Join(slices.Sorted(slices.Values(list)), "\n") }
	terms := []dish.Term{
		{Name: "capabilities", Value: sorted(own.Capabilities)},
		{Name: "allowed hosts", Value: sorted(own.AllowedHosts)},
		{Name: "limits", Value: limitsText(own.Limits)},
	}
	names := slices.Clone(own.Env)
	for name := range own.SetEnv {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		value, set := env.Lookup(name)
		terms = append(terms, dish.Term{Name: name, Value: value, Secret: true, Unset: !set})
	}
	return terms
}

func limitsText(l config.ToolLimits) string {
	var list []string
	for _, limit := range []struct {
		name  string
		value int64
	}{{"memory", l.Memory}, {"module", l.Module}, {"output", l.Output}, {"fuel", l.Fuel}} {
		if limit.value > 0 {
			list = append(list, limit.name+"="+strconv.FormatInt(limit.value, 10))
		}
	}
	return cmp.Or(strings.Join(list, " "), "default")
}
