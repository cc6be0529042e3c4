package composer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/jsonfile"
	"github.com/bentobuild/bento/internal/lockgraph"
)

// Lock is a parsed composer.lock.
type Lock struct {
	Packages []Package
	Why      string // why its content is unknown
}

// Package is one locked package.
type Package struct {
	Name     string
	Dir      string            // of a path package, relative to the lockfile
	Requires map[string]string // with their constraints
	Autoload string            // as Manifest.Autoload
	sum      lockgraph.Sum
}

// ParseLock reads a composer.lock. It returns no error: Why is the reason if it cannot read a part.
func ParseLock(path string, data []byte) (*Lock, error) {
	root, err := jsonfile.Parse(path, data)
	if err != nil {
		return &Lock{Why: strings.TrimPrefix(err.Error(), path+":")}, nil
	}
	l := &Lock{}
	for _, key := range []string{"packages", "packages-dev"} {
		v := root.Get(key)
		if v.Kind() != jsonfile.Array {
			return &Lock{Why: fmt.Sprintf("%q is not a list", key)}, nil
		}
		for _, p := range v.Items() {
			if p.Get("name").Text() == "" {
				return &Lock{Why: fmt.Sprintf("line %d: a package without a name", p.Line())}, nil
			}
			l.Packages = append(l.Packages, newPackage(p, key))
		}
	}
	return l, nil
}

// newPackage reads one package and ignores its origin.
func newPackage(v *jsonfile.Value, kind string) Package {
	p := Package{Name: v.Get("name").Text(), Requires: make(map[string]string), Autoload: autoload(v)}
	for _, m := range v.Get("require").Members() {
		p.Requires[m.Name] = m.Value.Text()
	}
	if v.Get("dist", "type").Text() == "path" {
		p.Dir = v.Get("dist", "url").Text()
	}
	requires := make([]string, 0, len(p.Requires))
	for _, name := range slices.Sorted(maps.Keys(p.Requires)) {
		requires = append(requires, name+" "+p.Requires[name])
	}
	p.sum = lockgraph.Of(kind, p.Name, v.Get("version").Text(), v.Get("dist", "type").Text(), p.Dir,
		v.Get("dist", "reference").Text(), v.Get("dist", "shasum").Text(), v.Get("source", "reference").Text(),
		strings.Join(requires, "\n"), p.Autoload)
	return p
}

// Digest returns the digest of all packages, or why it cannot.
func (l *Lock) Digest() (digest, why string) {
	if l.Why != "" {
		return "", l.Why
	}
	sums := make([]lockgraph.Sum, len(l.Packages))
	for i, p := range l.Packages {
		sums[i] = p.sum
	}
	return lockgraph.Join(sums...).String(), ""
}
