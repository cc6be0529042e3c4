package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/report/terminal"
	"github.com/bentobuild/bento/internal/state"
)

// The names of dishes and tasks are in the workspace's state, so that completion waits
// neither for plugins nor for a walk.
const (
	namesFile    = "names"
	namesVersion = 1
)

// names are the names of the dishes, tasks and bentos of a workspace, and the tags of its dishes.
type names struct {
	Dishes []dishNames `json:"dishes"`
	Bentos []string    `json:"bentos"`
	Tags   []string    `json:"tags,omitempty"` // sorted
}

type dishNames struct {
	Name  string   `json:"name"`
	Tasks []string `json:"tasks"`
}

// keepNames stores the names of the workspace if they have changed.
func (w *opened) keepNames() {
	var n names
	for _, d := range w.Dishes {
		n.Dishes = append(n.Dishes, dishNames{d.Name, append(d.TaskNames(), d.Aliases()...)})
		n.Tags = append(n.Tags, d.Tags()...)
	}
	slices.Sort(n.Tags)
	n.Tags = slices.Compact(n.Tags)
	for _, b := range w.Bentos {
		n.Bentos = append(n.Bentos, b.Name)
	}
	data, err := json.Marshal(n)
	if err != nil {
		return
	}
	if old, err := w.env.State.Load(namesFile, namesVersion); err == nil && string(old) == string(data) {
		return
	}
	_ = w.env.State.Store(namesFile, namesVersion, data) // after a failure, words are not completed
}

// names returns the stored names of the workspace. It is empty, without an error, if none are stored.
func (s *session) names() (n names) {
	root, _, err := s.root()
	if err != nil {
		return n
	}
	if data, err := state.Open(root).Load(namesFile, namesVersion); err == nil {
		_ = json.Unmarshal(data, &n)
	}
	return n
}

func (n names) dishes() (list []string) {
	for _, d := range n.Dishes {
		list = append(list, d.Name)
	}
	return list
}

// tagged returns the names of dishes, and the tags as they are written in place of a name.
func (n names) tagged() []string {
	list := n.dishes()
	for _, tag := range n.Tags {
		list = append(list, "tag:"+tag)
	}
	return list
}

// targets returns the names of dishes and bentos, and the tags.
func (n names) targets() []string { return append(n.tagged(), n.Bentos...) }

// tasks returns the names of all tasks and of the lifecycle, and all ids "dish:task".
func (n names) tasks() (list []string) {
	for _, d := range n.Dishes {
		list = append(list, d.Tasks...)
	}
	list = append(list, adapters.Lifecycle()...)
	slices.Sort(list)
	return append(slices.Compact(list), n.dishTasks()...)
}

func (n names) dishTasks() (list []string) {
	for _, d := range n.Dishes {
		for _, t := range d.Tasks {
			list = append(list, d.Name+":"+t)
		}
	}
	return list
}

// completer returns the possible next words. The shell keeps the words that match the begun word.
type completer = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// maxWords bounds the offered words: users do not read more.
const maxWords = 1000

// words completes with the words of list that are not among the arguments.
func words(list func() []string) completer {
	return func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		var fit []string
		for _, w := range list() {
			if strings.HasPrefix(w, begun) && !slices.Contains(args, w) && !strings.ContainsFunc(w, diagnostics.Unprintable) && len(fit) < maxWords {
				fit = append(fit, w)
			}
		}
		return fit, cobra.ShellCompDirectiveNoFileComp
	}
}

// once is words for commands with one argument.
func once(list func() []string) completer {
	all := words(list)
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return all(cmd, args, begun)
	}
}

// complete registers the completion of arguments and flags of the commands below root.
func (s *session) complete(root *cobra.Command) {
	tasks := func() []string { return s.names().tasks() }
	ids := func() []string { return s.names().dishTasks() }
	targets := func() []string { return s.names().targets() }
	dishes := func() []string { return s.names().dishes() }
	about := map[string]completer{
		"run": words(tasks), "watch": words(tasks), "why": once(ids), "last": once(ids), "logs": once(ids),
		"dish list": words(targets), "dishes": words(targets), "tasks": words(targets), "box add": words(dishes),
		"query dependents": once(func() []string { return append(targets(), ids()...) }), "query dependencies": once(func() []string { return append(targets(), ids()...) }),
		"toolchain list": words(targets), "toolchain check": words(targets),
	}
	about["plan"] = withFiles(words(func() []string { return append(targets(), tasks()...) }))
	for _, name := range append(adapters.Lifecycle(), "graph", "install", "artifacts", "clean") {
		about[name] = withFiles(words(targets))
	}
	for _, path := range slices.Sorted(maps.Keys(about)) {
		if cmd, _, err := root.Find(strings.Fields(path)); err == nil && cmd != root {
			cmd.ValidArgsFunction = about[path]
		}
	}
	flags := map[string]completer{
		"dish": words(func() []string { return s.names().tagged() }), "filter": words(targets), "bento": words(func() []string { return s.names().Bentos }), "exclude": words(func() []string { return append(targets(), ids()...) }),
		"output": words(terminal.Modes),
		"color":  words(func() []string { return []string{"auto", "always", "never"} }), "format": words(func() []string { return []string{"text", "dot", "json", "html"} }),
	}
	for _, cmd := range append(allCommands(root), root) {
		for name, f := range flags {
			if flag := cmd.LocalFlags().Lookup(name); flag != nil && cmd.Name() != "completion" {
				_ = cmd.RegisterFlagCompletionFunc(name, f) // it is registered once
			}
		}
	}
}

// withFiles completes paths in addition to the words of c.
func withFiles(c completer) completer {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		fit, _ := c(cmd, args, begun)
		return fit, cobra.ShellCompDirectiveDefault
	}
}

func allCommands(root *cobra.Command) (list []*cobra.Command) {
	for _, c := range root.Commands() {
		list = append(append(list, c), allCommands(c)...)
	}
	return list
}
