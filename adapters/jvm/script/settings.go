package script

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
)

// Settings is a parsed settings.gradle or settings.gradle.kts.
type Settings struct {
	Path string // absolute
	// Projects are the directories of the projects of the build by path. They include the
	// root ":" and projects that only hold others.
	Projects map[string]Project
	// Builds are the included builds.
	Builds []Place
	// Unsure are places that compute the names of projects.
	Unsure []Place
	// Strings are values that may name files.
	Strings []Place
}

// Project is one project of a build.
type Project struct {
	Dir  string // absolute
	Line int
	// Named reports whether the settings include it; other projects only contain an included one.
	Named bool
}

// Place is a text and its place.
type Place struct {
	Text string
	Line int
}

// Dir returns the directory of the build.
func (s *Settings) Dir() string { return filepath.Dir(s.Path) }

// ParseSettings reads the settings of a build. path is absolute. The error is a
// diagnostics.Problems.
func ParseSettings(path string, data []byte) (*Settings, error) {
	tokens, err := lex(path, data)
	if err != nil {
		return nil, err
	}
	s := &settingsReader{
		Settings: &Settings{Path: path, Projects: make(map[string]Project)},
		walker:   walker{tokens: tokens},
		moved:    make(map[string]string),
	}
	s.Projects[":"] = Project{Dir: s.Dir(), Named: true}
	for {
		t, ok := s.step()
		if !ok {
			break
		}
		s.take(t)
	}
	s.place()
	return s.Settings, diagnostics.Bounded(path, 0, "projects and builds", len(s.Projects)+len(s.Builds), adapters.MaxProjects)
}

type settingsReader struct {
	*Settings
	walker
	moved map[string]string // directories that the settings assign, by project
	read  int               // arguments before this token are already read
}

func (s *settingsReader) take(t token) {
	if t.kind == text {
		s.Strings = append(s.Strings, Place{t.text, t.line})
		return
	}
	if t.kind != word || s.peek(0).is("=") {
		return
	}
	switch t.text {
	case "include", "includeFlat":
		if !after(s.header, ".") || after(s.header, "settings", ".") {
			s.include(t)
		}
	case "includeBuild":
		c := s.arguments(shortCall)
		if len(c.strings) == 0 || c.strings[0].computed {
			s.unsure(t, "computed includeBuild")
			return
		}
		s.Builds = append(s.Builds, Place{filepath.Join(s.Dir(), filepath.FromSlash(c.strings[0].text)), t.line})
	case "project":
		s.projectDir(t)
	}
}

func (s *settingsReader) unsure(t token, what string) {
	s.Unsure = append(s.Unsure, Place{what, t.line})
}

// include adds the projects of an include.
func (s *settingsReader) include(t token) {
	if s.pos < s.read {
		return
	}
	c := s.arguments(maxTokens)
	s.read = s.pos + c.length
	if c.computed || len(c.strings) == 0 {
		s.unsure(t, "computed "+t.text)
	}
	for _, arg := range c.strings {
		if arg.computed || arg.text == "" {
			continue
		}
		if t.text == "includeFlat" {
			name := strings.TrimPrefix(arg.text, ":")
			s.Projects[":"+name] = Project{filepath.Join(filepath.Dir(s.Dir()), name), arg.line, true}
			continue
		}
		s.add(Absolute(":", arg.text), arg.line)
	}
}

// maxSegments is how deep projects may nest.
const maxSegments = 64

// add adds a project and those that hold it.
func (s *settingsReader) add(path string, line int) {
	path = strings.Trim(path, ":")
	if path == "" {
		return // the root, which every build has
	}
	parts := strings.Split(path, ":")
	if len(parts) > maxSegments || slices.Contains(parts, "") || slices.Contains(parts, "..") || strings.ContainsAny(path, "/\\") && strings.Contains(path, "..") {
		s.Unsure = append(s.Unsure, Place{"a project with the path \":" + path + "\"", line})
		return
	}
	at := ""
	for i, part := range parts {
		at += ":" + part
		p := s.Projects[at]
		p.Dir = filepath.Join(append([]string{s.Dir()}, parts[:i+1]...)...)
		if last := i == len(parts)-1; last && !p.Named {
			p.Named, p.Line = true, line
		}
		s.Projects[at] = p
	}
}

// projectDir reads "project(':x').projectDir = …".
func (s *settingsReader) projectDir(t token) {
	c := s.arguments(shortCall)
	i := 0
	for ; !s.peek(i).is(")"); i++ {
		if s.peek(i).kind == eol || i == shortCall {
			return
		}
	}
	if !s.peek(i+1).is(".") || !s.peek(i+2).is("projectDir") || !s.peek(i+3).is("=") {
		return
	}
	if c.computed || len(c.strings) != 1 {
		s.unsure(t, "computed projectDir of a project")
		return
	}
	dir, ok := s.directory(i + 4)
	if !ok {
		s.unsure(t, "computed projectDir")
		return
	}
	s.moved[Absolute(":", c.strings[0].text)] = dir
}

// directory reads a literal directory from the n-th next token on: a call of file or new
// File, or a resolved path, with the root and one string.
func (s *settingsReader) directory(n int) (dir string, ok bool) {
	found := ""
	for end := n + shortCall; s.peek(n).kind != eol; n++ {
		t := s.peek(n)
		switch {
		case n == end:
			return "", false
		case t.kind == text && found == "":
			found = t.text
			for _, root := range []string{"$rootDir", "${rootDir}", "$settingsDir", "${settingsDir}", "${rootProject.projectDir}", "$rootProject.projectDir", "${settings.rootDir}"} {
				if rest, cut := strings.CutPrefix(found, root); cut {
					found, t.computed = "."+rest, false
					break
				}
			}
			if t.computed || found == "" {
				return "", false
			}
		case t.kind == text:
			return "", false
		case t.kind == word && !slices.Contains([]string{"file", "new", "File", "java", "io", "rootDir", "settingsDir", "rootProject", "projectDir", "settings", "as", "resolve"}, t.text):
			return "", false
		case t.kind == other && !strings.Contains("(),./", t.text):
			return "", false
		}
	}
	if found == "" {
		return "", false
	}
	if found = filepath.FromSlash(found); filepath.IsAbs(found) {
		return filepath.Clean(found), true
	}
	return filepath.Join(s.Dir(), found), true
}

// place assigns the directories to their projects, and moves the projects below.
func (s *settingsReader) place() {
	if len(s.moved) == 0 {
		return
	}
	for path, p := range s.Projects {
		below := ""
		for at := path; at != ""; at = at[:strings.LastIndexByte(at, ':')] {
			if dir, ok := s.moved[at]; ok {
				p.Dir = filepath.Join(dir, below)
				s.Projects[path] = p
				break
			}
			below = filepath.Join(at[strings.LastIndexByte(at, ':')+1:], below)
		}
	}
}
