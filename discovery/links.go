package discovery

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
)

// The rules of problems with links.
const (
	RuleUnknownDish = "unknown_dish"
	RuleCycle       = "dependency_cycle"
	RuleOutside     = "dependency_outside"
)

// link sets the links of each dish: those that dish.toml declares, and those that adapters read
// from manifests.
func (f *finder) link() {
	byName := make(map[string]*dish.Dish, len(f.ws.Dishes))
	provider := make(map[string]*dish.Dish)
	for _, d := range f.ws.Dishes {
		byName[d.Name] = d
		for _, name := range f.decided[d].links.Provides {
			if provider[name] == nil { // the first by path is used
				provider[name] = d
			}
		}
	}
	links := linkSet{byDish: make(map[*dish.Dish]int)}
	for _, d := range f.ws.Dishes {
		links.clear()
		f.declared(d, byName, &links)
		for _, l := range f.decided[d].links.Links {
			f.inferred(d, l, provider, &links)
		}
		d.Links = slices.Clone(links.list)
	}
	f.checkLinks()
	f.spread()
	f.deepen()
	for _, d := range f.ws.Dishes {
		slices.SortFunc(d.Links, func(a, b dish.Link) int {
			return cmp.Or(strings.Compare(a.To.Path, b.To.Path), strings.Compare(a.To.Beside, b.To.Beside))
		})
	}
	f.cycles()
}

// linkSet collects the links of one dish, one for each target.
type linkSet struct {
	list   []dish.Link
	byDish map[*dish.Dish]int // index in list
}

// clear removes all links and keeps the memory.
func (s *linkSet) clear() {
	s.list = s.list[:0]
	clear(s.byDish)
}

// of returns the link to a dish, nil for none. It is valid until the next put.
func (s *linkSet) of(to *dish.Dish) *dish.Link {
	if i, ok := s.byDish[to]; ok {
		return &s.list[i]
	}
	return nil
}

// put adds a link, in place of another to the same dish.
func (s *linkSet) put(l dish.Link) {
	if old := s.of(l.To); old != nil {
		*old = l
		return
	}
	s.byDish[l.To] = len(s.list)
	s.list = append(s.list, l)
}

func (f *finder) declared(d *dish.Dish, byName map[string]*dish.Dish, links *linkSet) {
	if d.Config == nil {
		return
	}
	for _, dep := range d.Config.DependsOn {
		to := byName[dep.Dish]
		switch {
		case to == nil:
			f.add(dep.Pos.Error(RuleUnknownDish, "depends_on: no dish is named %q", dep.Dish).WithHint(f.suggestDish(dep.Dish)))
		case links.of(to) != nil:
			f.add(dep.Pos.Warning(config.RuleDuplicate, "depends_on names %q twice", dep.Dish))
		default:
			for _, to := range f.meant(d, to) {
				links.put(dish.Link{To: to, Kind: dish.Declared, Via: dep.Via, Where: where(dep.Pos.File, dep.Pos.Line), Pos: dep.Pos})
			}
		}
	}
}

// meant returns the dishes that an entry of depends_on means by the name of to. In its own directory that
// is only the other dish, because all dishes of the directory have the entry.
func (f *finder) meant(d, to *dish.Dish) []*dish.Dish {
	switch {
	case to.Path != d.Path:
		return f.ws.Named(to)
	case to == d && len(f.ws.ByPath[d.Path]) > 1:
		return nil
	}
	return []*dish.Dish{to}
}

// suggestDish returns the dishes that the user may have meant by a name or a path.
func (f *finder) suggestDish(word string) string {
	var names []string
	for _, d := range f.ws.Dishes {
		if d.Path == strings.TrimPrefix(word, "./") {
			return "the dish at " + d.Path + " is named " + strconv.Quote(d.Name)
		}
		names = append(names, d.Name)
	}
	return diagnostics.Suggest(word, names)
}

// outside reports a dependency outside the workspace, whose files no key can include.
func (f *finder) outside(d *dish.Dish, l adapters.Link) {
	p := diagnostics.Pos{File: f.inWorkspace(l.File), Line: l.Line}
	w := p.Warning(RuleOutside, "dish %q depends on %q, which is outside the workspace: no key includes its files", d.Name, l.Dir)
	w.Hint = "move it into the workspace, or list a variable with its version in the env of the tasks"
	w.Dish, w.Alike = d.Name, fmt.Sprintf("depend on %q, which is outside the workspace: no key includes its files", l.Dir)
	f.add(w)
}

// nowhere reports a link of a plugin to a path that does not exist.
func (f *finder) nowhere(d *dish.Dish, l adapters.Link) {
	if _, process := d.Adapter.(adapters.Starter); !process {
		return // the language's own tool refuses such a manifest
	}
	if _, err := os.Lstat(l.Dir); errors.Is(err, fs.ErrNotExist) {
		f.add(diagnostics.Pos{File: f.inWorkspace(l.File), Line: l.Line}.Warning(RuleUnknownDish, "dish %q depends on %q, which does not exist", d.Name, l.Dir).
			WithHint("correct the path; if it is right in the file, the plugin " + d.Adapter.Manifest().AdapterID + " reads it wrong"))
	}
}

// inWorkspace returns a path relative to the workspace, if it is inside.
func (f *finder) inWorkspace(file string) string {
	if rel, ok := f.ws.Relative(file); ok {
		return rel
	}
	return file
}

// inferred adds a link from a manifest unless dish.toml declares it. The files of a target that is
// no dish become inputs.
func (f *finder) inferred(d *dish.Dish, l adapters.Link, provider map[string]*dish.Dish, links *linkSet) {
	to := provider[l.Package]
	if l.Package == "" || to == nil {
		if l.Dir == "" {
			return // a package from a registry
		}
		rel, ok := f.ws.Relative(l.Dir)
		if !ok {
			f.outside(d, l)
			return
		}
		if to = f.ws.Owner(rel); to != nil {
			to = f.of(to.Path, d.Family())
		}
		if to == nil || to.Path != rel {
			f.nowhere(d, l)
			d.Extra = append(d.Extra, rel) // the target is no dish: its files are inputs
			d.Embeds = append(d.Embeds, f.embed(rel, adapters.Embed{File: l.File, Line: l.Line}))
		}
		if to != nil && to.Path != rel && (to.Aggregate || encloses(to, d)) {
			return // no other directory is an input
		}
	}
	if to == nil || to.Path == d.Path {
		return
	}
	if old := links.of(to); old != nil {
		old.Dev, old.Private, old.Deep = old.Dev && l.Dev, old.Private && l.Private, old.Deep || l.Deep
		old.Shared, old.As = old.Shared || l.Shared, append(old.As, l.As)
		return
	}
	file := f.inWorkspace(l.File)
	links.put(dish.Link{
		To: to, Kind: dish.Inferred, Dev: l.Dev, Private: l.Private, Where: where(file, l.Line),
		Pos: diagnostics.Pos{File: file, Line: l.Line}, Deep: l.Deep, Shared: l.Shared, As: []string{l.As},
	})
}

// deepen adds the private links of the targets of deep links: a dish that runs the tests of another dish
// also needs the private links of that dish.
func (f *finder) deepen() {
	for changed := true; changed; {
		changed = false
		for _, d := range f.ws.Dishes {
			links := linkSet{list: d.Links}
			for i := 0; i < len(links.list); i++ {
				if through := links.list[i]; through.Deep {
					changed = links.inherit(d, &through) || changed
				}
			}
			d.Links = links.list
		}
	}
}

// inherit adds the private links of the target of a link of d. It reports whether that changed the
// set.
func (s *linkSet) inherit(d *dish.Dish, through *dish.Link) (changed bool) {
	if s.byDish == nil {
		s.byDish = make(map[*dish.Dish]int, len(s.list))
		for i := range s.list {
			s.byDish[s.list[i].To] = i
		}
	}
	for _, l := range through.To.Links {
		if !l.Private || l.To == d {
			continue
		}
		old := s.of(l.To)
		switch {
		case old == nil:
			l.Private, l.Dev, l.Where, l.Pos = through.Private, through.Dev, through.Where, through.Pos
			s.put(l)
			changed = true
		case old.Private && !through.Private || l.Deep && !old.Deep:
			old.Private, old.Dev, old.Deep = old.Private && through.Private, old.Dev && through.Dev, old.Deep || l.Deep
			changed = true
		}
	}
	return changed
}

// encloses reports whether o is in a directory of d.
func encloses(d, o *dish.Dish) bool {
	return d != o && (d.Path == "." || strings.HasPrefix(o.Path, d.Path+"/"))
}

func where(file string, line int) string {
	return diagnostics.Pos{File: file, Line: line}.String()
}
