// Package foreign reads and writes the files of other tools for bento init. It reads the files in which build tools
// declare tasks, and returns these declarations as keys of dish.toml. A declaration without a key in bento is
// returned as a gap with its place and the reason, so that no part is silently left out. It writes workflows of
// services and hooks of git, which call bento.
package foreign

import (
	"path"
	"slices"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/config"
)

// Tool is a build tool whose files are read.
type Tool struct {
	ID string
	// Files are the names of its files at the root. The first one that exists is read.
	Files []string
	read  func(*reader)
}

// Tools returns the tools, in the order in which they are read.
func Tools() []Tool {
	return []Tool{
		{"turbo", []string{"turbo.json", "turbo.jsonc"}, (*reader).turbo},
		{"nx", []string{"nx.json"}, (*reader).nx},
		{"moon", []string{".moon/workspace.yml", ".moon/tasks.yml"}, (*reader).moon},
		{"lerna", []string{"lerna.json"}, (*reader).lerna},
		{"rush", []string{"rush.json"}, (*reader).rush},
		{"just", []string{"justfile", "Justfile", ".justfile"}, (*reader).just},
		{"task", []string{"Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml", "Taskfile.dist.yml", "Taskfile.dist.yaml"}, (*reader).taskfile},
		{"make", []string{"GNUmakefile", "makefile", "Makefile"}, (*reader).makefile},
	}
}

// Source is a workspace whose files are read, and for which files are written.
type Source struct {
	Files  *clone.Clone
	Dishes []Dish
	// Paths are the sorted paths of its files for which Is returns true: they may belong to a tool.
	Paths []string
	// Remote is the remote cache of bento.toml, for the jobs that Workflow makes.
	Remote config.Remote
}

// Dish is a dish that tasks are mapped to.
type Dish struct {
	Name, Path string
	Languages  []string // ids of its adapters
	Tasks      []string // names of its recipes
}

// Is reports whether a file of this name can belong to a project of a tool.
func Is(name string) bool {
	return slices.Contains([]string{"project.json", "moon.yml", "rush-project.json"}, path.Base(name))
}

// File is a file that was read.
type File struct {
	Tool, Path string
}

// Gap is a part of a file that is not mapped.
type Gap struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col,omitempty"` // 0 when it is unknown
	Key  string `json:"key"`
	Why  string `json:"why"`
}

// Mapping is the content of the files of other tools in bento's terms.
type Mapping struct {
	Files    []File
	Tables   []*Table // by path
	Defaults Defaults
	Gaps     []Gap
	Problems []diagnostics.Diagnostic // files that cannot be read
}

// Defaults are keys of bento.toml.
type Defaults struct {
	Parallelism int // 0 when not given
	InheritEnv  bool
	PassEnv     []string
}

// Read reads the files of the tools with these ids. A task of a dish is mapped by the first tool that
// has it. An existing dish.toml stays: the keys for it are gaps.
func Read(src Source, ids []string) *Mapping {
	r := newReader(src)
	for _, t := range Tools() {
		if !slices.Contains(ids, t.ID) {
			continue
		}
		for _, name := range t.Files {
			if r.exists(name) {
				r.tool, r.top = t.ID, name
				r.m.Files = append(r.m.Files, File{t.ID, name})
				t.read(r)
				break
			}
		}
	}
	r.finish()
	r.m.keepOwn(src.Files)
	return r.m
}

// Present returns the ids of the tools that have a file at the root.
func Present(files *clone.Clone) (ids []string) {
	r := newReader(Source{Files: files})
	for _, t := range Tools() {
		if slices.ContainsFunc(t.Files, r.exists) {
			ids = append(ids, t.ID)
		}
	}
	return ids
}
