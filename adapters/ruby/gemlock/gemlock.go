// Package gemlock reads Gemfile.lock and returns a digest of the gems that one project
// resolves to.
package gemlock

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/lockgraph"
)

// RuleConflict is the rule of the diagnostic of a lockfile with merge conflict markers.
const RuleConflict = "merge_conflict"

// Lock is a Gemfile.lock. It does not change and is safe for concurrent use.
type Lock struct {
	Paths  []Path
	byName map[string][]*spec
	direct []dependency // of the Gemfile
	rest   lockgraph.Sum
	graph  lockgraph.Graph
	root   lockgraph.Node
}

// Path is a gem in a directory.
type Path struct {
	Name   string
	Remote string // relative to the lockfile, as it is written
	Line   int    // 1-based
}

// spec is one version of a gem for one platform.
type spec struct {
	name, version, source string
	needs                 []dependency
	node                  lockgraph.Node
}

type dependency struct{ name, text string }

// sections are the known sections. The meaning of any other is unknown.
const sections = "\nGIT\nGEM\nPATH\nPLUGIN SOURCE\nPLATFORMS\nDEPENDENCIES\nCHECKSUMS\nRUBY VERSION\nBUNDLED WITH\n"

// Parse reads a lockfile. The error of one that Bundler would refuse is a
// diagnostics.Problems; any other error says why Parse cannot read it.
func Parse(path string, data []byte) (*Lock, error) {
	data, _ = bytes.CutPrefix(data, []byte("\xef\xbb\xbf"))
	r := &reader{path: path, lock: &Lock{byName: make(map[string][]*spec)}, sums: make(map[string]string)}
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		if err := r.line(strings.TrimRight(line, "\r\n"), number); err != nil {
			return nil, err
		}
	}
	r.lock.link(r.order, r.sums, r.rest)
	return r.lock, nil
}

// reader reads lines one after the other.
type reader struct {
	path    string
	lock    *Lock
	section string
	origin  []string // the options above "specs:"
	remote  string
	last    *spec
	order   []*spec
	sums    map[string]string // by "name (version)"
	rest    []string          // platforms and the version of Ruby
}

func (r *reader) line(text string, number int) error {
	trimmed := strings.TrimSpace(text)
	indent := len(text) - len(strings.TrimLeft(text, " "))
	switch {
	case strings.HasPrefix(text, "<<<<<<< ") || strings.HasPrefix(text, ">>>>>>> ") || text == "=======":
		return diagnostics.Problems{diagnostics.Pos{File: r.path, Line: number, Col: 1}.Error(RuleConflict, "merge conflict markers are left in").
			WithHint("resolve the conflict, or take one side and run \"bundle lock\"")}
	case trimmed == "":
	case indent == 0:
		if !strings.Contains(sections, "\n"+text+"\n") {
			return fmt.Errorf("the section %.40q of Gemfile.lock is not known", text)
		}
		r.section, r.origin, r.remote, r.last = text, nil, "", nil
	default:
		r.entry(trimmed, indent, number)
	}
	return nil
}

func (r *reader) entry(text string, indent, number int) {
	switch r.section {
	case "GIT", "GEM", "PATH":
		r.source(text, indent, number)
	case "PLATFORMS":
		r.rest = append(r.rest, "platform "+text)
	case "RUBY VERSION":
		r.rest = append(r.rest, text)
	case "DEPENDENCIES":
		r.lock.direct = append(r.lock.direct, parseDependency(strings.TrimSuffix(text, "!")))
	case "CHECKSUMS":
		if name, sum, ok := strings.Cut(text, ") "); ok {
			r.sums[name+")"] = sum
		}
	}
}

// source reads a line of a section of gems: an option, a gem, or a dependency of a gem.
func (r *reader) source(text string, indent, number int) {
	switch {
	case indent == 2 && text != "specs:":
		key, value, _ := strings.Cut(text, ": ")
		if key == "remote" {
			r.remote = value
		}
		// Versions and checksums identify the gems of an index, so its URL is left out. The
		// directory of a path is left out too: the dish depends on it by a link.
		if r.section == "GIT" || key != "remote" {
			r.origin = append(r.origin, text)
		}
	case indent == 4:
		name, version, _ := strings.Cut(text, " (")
		s := &spec{name: name, version: strings.TrimSuffix(version, ")")}
		s.source = r.section + " " + strings.Join(r.origin, " ")
		r.last = s
		r.order = append(r.order, s)
		r.lock.byName[name] = append(r.lock.byName[name], s)
		if r.section == "PATH" {
			r.lock.Paths = append(r.lock.Paths, Path{Name: name, Remote: r.remote, Line: number})
		}
	case indent >= 6 && r.last != nil:
		r.last.needs = append(r.last.needs, parseDependency(text))
	}
}

// parseDependency reads "name" or "name (>= 1, < 2)".
func parseDependency(text string) dependency {
	name, _, _ := strings.Cut(text, " (")
	return dependency{name: strings.TrimSuffix(name, "!"), text: text}
}

// link builds the graph. A gem for several platforms depends on all of them.
func (l *Lock) link(order []*spec, sums map[string]string, rest []string) {
	for _, s := range order {
		needs := make([]string, len(s.needs))
		for i, d := range s.needs {
			needs[i] = d.text
		}
		slices.Sort(needs)
		s.node = l.graph.Add(append([]string{s.name, s.version, s.source, sums[s.name+" ("+s.version+")"]}, needs...)...)
	}
	for _, s := range order {
		for _, d := range s.needs {
			l.linkTo(s.node, d.name)
		}
	}
	l.root = l.graph.Add("Gemfile")
	for _, d := range l.direct {
		l.linkTo(l.root, d.name)
		rest = append(rest, "needs "+d.text)
	}
	slices.Sort(rest)
	l.rest = lockgraph.Of(rest...)
	l.graph.Seal()
}

func (l *Lock) linkTo(from lockgraph.Node, name string) {
	for _, s := range l.byName[name] {
		l.graph.Link(from, name, s.node)
	}
}

// Has reports whether the lockfile resolves to a gem.
func (l *Lock) Has(name string) bool { return len(l.byName[name]) > 0 }

// Digest returns the digest of everything that the Gemfile resolves to.
func (l *Lock) Digest() string { return lockgraph.Join(l.rest, l.graph.Sum(l.root)).String() }

// DigestOf returns the digest of what some gems on disk resolve to, and of the Gemfile's
// other requirements, which all gems share. ok is false when the lockfile does not hold one
// of the gems.
func (l *Lock) DigestOf(names []string) (digest string, ok bool) {
	var sums []lockgraph.Sum
	add := func(name string) {
		for _, s := range l.byName[name] {
			sums = append(sums, l.graph.Sum(s.node))
		}
	}
	var rest []string
	for _, d := range l.direct {
		if !l.onDisk(d.name) {
			add(d.name)
			rest = append(rest, d.text)
		}
	}
	slices.Sort(rest)
	ok = true
	for _, name := range names {
		ok = ok && l.Has(name)
		add(name)
	}
	return lockgraph.Join(append(sums, lockgraph.Of(rest...))...).String(), ok
}

func (l *Lock) onDisk(name string) bool {
	return slices.ContainsFunc(l.Paths, func(p Path) bool { return p.Name == name })
}
