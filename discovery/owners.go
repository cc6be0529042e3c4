package discovery

import (
	"errors"
	"io/fs"
	"sync"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/codeowners"
	"github.com/bentobuild/bento/internal/dish"
)

// ruleCodeowners is the rule of problems with a CODEOWNERS file.
const ruleCodeowners = "codeowners"

// findOwners lets the dishes know their owners. It reads CODEOWNERS when the first owner is wanted.
func (f *finder) findOwners() {
	if f.Clone == nil {
		return
	}
	files := f.Clone // the functions below outlive f, which is large
	read := sync.OnceValues(func() (ownersFile, error) { return readOwners(files) })
	f.ws.OwnersOf = func(path string) (dish.Ownership, error) {
		file, err := read()
		if err != nil || file.rules == nil {
			return dish.Ownership{}, err
		}
		rule, err := file.rules.Of(path)
		if err != nil {
			return dish.Ownership{}, unusableOwners(file.name, err)
		}
		if rule == nil {
			return dish.Ownership{}, nil
		}
		return dish.Ownership{Owners: rule.Owners, Pattern: rule.Pattern, Pos: diagnostics.Pos{File: file.name, Line: rule.Line}}, nil
	}
	for _, d := range f.ws.Dishes {
		d.OwnersOf = f.ws.OwnersOf
	}
}

// ownersFile is the CODEOWNERS file of a workspace; without one it has no rules.
type ownersFile struct {
	name  string
	rules *codeowners.Rules
}

// readOwners reads the first CODEOWNERS file that exists.
func readOwners(c *clone.Clone) (ownersFile, error) {
	for _, name := range codeowners.Names() {
		text, err := c.Read(name, codeowners.MaxSize)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return ownersFile{}, unusableOwners(name, err)
		}
		rules, err := codeowners.Parse(text)
		if err != nil {
			return ownersFile{}, unusableOwners(name, err)
		}
		return ownersFile{name, rules}, nil
	}
	return ownersFile{}, nil
}

// unusableOwners returns the error of a CODEOWNERS file that bento cannot use.
func unusableOwners(name string, err error) error {
	return diagnostics.Problems{diagnostics.Pos{File: name}.Error(ruleCodeowners, "the file names no owners: %v", err)}
}
