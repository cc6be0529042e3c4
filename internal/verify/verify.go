// Package verify compares two executions of tasks in different places, and finds what their keys do not hold: files that
// they read, files that differ between machines, the directory itself, time and chance in their outputs.
package verify

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run"
)

// Kind is the kind of a finding.
type Kind string

// The kinds of findings.
const (
	Read      Kind = "undeclared_read"  // a file of the workspace that is none of the inputs
	Write     Kind = "undeclared_write" // a file of the workspace that is none of the outputs
	Host      Kind = "host_file"        // a file outside of the workspace that may differ between machines
	Absolute  Kind = "absolute_path"    // an output names the directory in which it was made
	Different Kind = "not_reproducible" // an output differs between the executions
	Failed    Kind = "failed"           // the task fails from its inputs alone
	Stored    Kind = "remote_differs"   // an output differs from that of the result in the remote cache
)

// Finding is one thing that the key of a task does not hold.
type Finding struct {
	Kind    Kind
	Task    *plan.Task
	Path    string // relative to the workspace; absolute for Host, with "~/" for the user's home
	Message string
	Hint    string // where to declare it
}

// Execution is one execution of a task in a fresh directory, or a stored result, whose Places are unknown.
type Execution struct {
	Outputs []cache.Output
	// Open opens the content of an output that is a file.
	Open func(o *cache.Output) (io.ReadCloser, error)
	// Places are absolute paths that mean nothing elsewhere: of the workspace, of temporary files.
	Places []string
}

// Place is where a task was executed, and where its workspace is.
type Place struct {
	Root     string // of the fresh directory
	Original string // of the workspace that it is a copy of
	Home     string // of the user
	Path     string // the directories of programs, as in $PATH
	// Own are further directories that belong to the execution: of temporary files, of this program.
	Own []string
}

// Undeclared returns what an observed execution used and its task does not declare.
func Undeclared(s *run.Seen, at Place) (list []Finding) {
	if s.Used == nil {
		return nil
	}
	for i := range s.Used.Files {
		f := &s.Used.Files[i]
		p, inside := strings.CutPrefix(f.Path, at.Root+"/")
		if !inside {
			continue
		}
		if kind := undeclared(s, f, p, at); kind != "" {
			what, hint := s.Advice(p, kind == Write)
			what = strings.Replace(strings.Replace(what, "it may not read", "it reads", 1), "it may not write", "it writes", 1)
			list = append(list, Finding{Kind: kind, Task: s.Task, Path: p, Message: what, Hint: hint})
		}
	}
	return append(list, hostFiles(s, at)...)
}

// undeclared returns what the use of a file is, "" if it is declared.
func undeclared(s *run.Seen, f *action.UsedFile, p string, at Place) Kind {
	changes := f.Use&(action.Write|action.Remove) != 0
	switch {
	case changes && f.Use&action.Remove == 0 && isFile(f.Path) && !s.Reach.Changeable(p, false) && !key.IsOwn(p):
		return Write
	case changes || s.Reach.Readable(p):
		return ""
	case f.Absent && f.Use&(action.Read|action.Stat) != 0 && isFile(filepath.Join(at.Original, filepath.FromSlash(p))):
		return Read // git ignores it there, so it is in no clone
	case f.Use&action.Read != 0 && !f.Absent && isFile(f.Path):
		return Read
	}
	return ""
}

func isFile(name string) bool {
	fi, err := os.Lstat(name)
	return err == nil && fi.Mode().IsRegular()
}

// Sort sorts findings by task, kind and path, and removes those that come twice.
func Sort(list []Finding) []Finding {
	slices.SortFunc(list, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.Task.ID(), b.Task.ID()), strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Path, b.Path))
	})
	return slices.CompactFunc(list, func(a, b Finding) bool { return a.Task.ID() == b.Task.ID() && a.Kind == b.Kind && a.Path == b.Path })
}

// Where returns the place where a finding is declared: the table of its task in dish.toml, or that file, which may be
// missing.
func (f *Finding) Where() diagnostics.Pos {
	d := f.Task.Dish
	if d.Config != nil {
		for i := range d.Config.Tasks {
			if t := &d.Config.Tasks[i]; t.Name == f.Task.Name {
				return t.Pos
			}
		}
	}
	return diagnostics.Pos{File: filepath.ToSlash(filepath.Join(d.Path, "dish.toml"))}
}

// Diagnostic returns the finding as a diagnostic.
func (f *Finding) Diagnostic() diagnostics.Diagnostic {
	d := f.Where().Error(string(f.Kind), "%s", fmt.Sprintf("%s: %s", f.Task.ID(), f.Message))
	return d.WithHint(f.Hint)
}
