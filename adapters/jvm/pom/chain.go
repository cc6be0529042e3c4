package pom

import (
	"slices"
	"strings"
)

// Bounds of the expansion of expressions.
const (
	maxExpansions = 200
	maxExpanded   = 8 << 10 // bytes
)

// Chain is a project and the parents that are found at their relative paths, the nearest
// first. It is never empty.
type Chain []*Model

// Coordinates identify a project. An unknown version is "".
type Coordinates struct{ Group, Artifact, Version string }

// Matches reports whether m is the project that the parent element names.
func (p *Parent) Matches(m *Model) bool {
	group, version := m.Group.Text, m.Version.Text
	if m.Parent != nil {
		if group == "" {
			group = m.Parent.Group.Text
		}
		if version == "" {
			version = m.Parent.Version.Text
		}
	}
	// A range may include the version of m.
	ranged := strings.ContainsAny(p.Version.Text, "[(,")
	return p.Artifact.Text == m.Artifact.Text && p.Group.Text == group && (ranged || p.Version.Text == version)
}

// Coordinates returns the coordinates of the project.
func (c Chain) Coordinates() Coordinates {
	get := func(name string) string {
		v, _ := c.Expand("${project." + name + "}")
		return v
	}
	return Coordinates{Group: get("groupId"), Artifact: get("artifactId"), Version: get("version")}
}

// Property returns a property of the project or, inherited, of its parents, and its pom. It
// replaces expressions whose values are known.
func (c Chain) Property(name string) (v Value, in *Model) {
	for _, m := range c {
		if v, ok := m.Properties[name]; ok {
			v.Text, _ = c.Expand(v.Text)
			return v, m
		}
	}
	return Value{}, nil
}

// Compiler returns an option of the compiler: release, target or source, from the
// configuration of its plugin, else from a property.
func (c Chain) Compiler(name string) (v Value, in *Model) {
	for _, m := range c {
		if v, ok := m.Compiler[name]; ok {
			v.Text, _ = c.Expand(v.Text)
			return v, m
		}
	}
	return c.Property("maven.compiler." + name)
}

// Rule returns the version that a rule of the enforcer requires.
func (c Chain) Rule(name string) (v Value, in *Model) {
	for _, m := range c {
		if v, ok := m.Rules[name]; ok {
			v.Text, _ = c.Expand(v.Text)
			return v, m
		}
	}
	return Value{}, nil
}

// Plugin reports whether the build has a plugin, and whether it is bound to a phase.
func (c Chain) Plugin(artifact string) (has, bound bool) {
	for _, m := range c {
		for _, p := range m.Plugins {
			if p.Artifact == artifact {
				has, bound = true, bound || p.Bound
			}
		}
		for _, p := range m.Managed {
			bound = bound || p.Artifact == artifact && p.Bound
		}
	}
	return has, has && bound
}

// Runs returns the goals of a plugin that run during a build, without duplicates.
func (c Chain) Runs(artifact string) []string {
	var goals []string
	if _, bound := c.Plugin(artifact); !bound {
		return nil
	}
	for _, m := range c {
		for _, p := range slices.Concat(m.Plugins, m.Managed) {
			if p.Artifact == artifact {
				goals = append(goals, p.Goals...)
			}
		}
	}
	slices.Sort(goals)
	return slices.Compact(goals)
}

// Expand replaces the ${expressions} of a text as Maven does for the project. ok is false
// when the value of an expression is unknown; the expression then stays.
func (c Chain) Expand(text string) (expanded string, ok bool) {
	e := expander{chain: c}
	ok = e.expand(text, 0)
	return e.b.String(), ok
}

// ExpandWith is Expand with further values, which win.
func (c Chain) ExpandWith(text string, values map[string]string) (expanded string, ok bool) {
	e := expander{chain: c, values: values}
	ok = e.expand(text, 0)
	return e.b.String(), ok
}

type expander struct {
	chain  Chain
	values map[string]string
	b      strings.Builder
	steps  int
}

// expand writes text with its expressions replaced.
func (e *expander) expand(text string, depth int) bool {
	known := true
	for {
		before, rest, found := strings.Cut(text, "${")
		name, after, closed := strings.Cut(rest, "}")
		if !found || !closed {
			e.b.WriteString(text)
			return known && e.b.Len() <= maxExpanded
		}
		e.b.WriteString(before)
		value, ok := e.lookup(name)
		if e.steps++; ok && e.steps < maxExpansions && depth < 20 && e.b.Len() < maxExpanded {
			known = e.expand(value, depth+1) && known
		} else {
			e.b.WriteString("${" + name + "}")
			known = false
		}
		text = after
	}
}

func (e *expander) lookup(name string) (string, bool) {
	if v, ok := e.values[name]; ok {
		return v, true
	}
	short := name
	for _, prefix := range []string{"project.", "pom."} {
		short = strings.TrimPrefix(short, prefix)
	}
	if short != name || short == "version" || short == "artifactId" || short == "groupId" {
		if v, ok := e.field(short); ok {
			return v, true
		}
	}
	for _, m := range e.chain {
		if v, ok := m.Properties[name]; ok {
			return v.Text, true
		}
	}
	return "", false
}

// field returns a coordinate or directory of the project itself.
func (e *expander) field(name string) (string, bool) {
	m := e.chain[0]
	switch name {
	case "artifactId":
		return m.Artifact.Text, m.Artifact.Text != ""
	case "groupId":
		return e.inherited(m.Group, func(p *Parent) Value { return p.Group })
	case "version":
		return e.inherited(m.Version, func(p *Parent) Value { return p.Version })
	case "packaging":
		return m.Packaging.Text, m.Packaging.Text != ""
	case "parent.groupId":
		return e.inherited(Value{}, func(p *Parent) Value { return p.Group })
	case "parent.version":
		return e.inherited(Value{}, func(p *Parent) Value { return p.Version })
	case "parent.artifactId":
		return e.inherited(Value{}, func(p *Parent) Value { return p.Artifact })
	}
	return "", false
}

func (e *expander) inherited(own Value, of func(*Parent) Value) (string, bool) {
	if own.Text != "" {
		return own.Text, true
	}
	if p := e.chain[0].Parent; p != nil {
		return of(p).Text, of(p).Text != ""
	}
	return "", false
}
