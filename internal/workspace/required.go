package workspace

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tree"
)

const (
	// RulePluginRequired is the rule of a plugin that [plugins] required names and that does not
	// exist or must not start. A failed plugin has the code of its failure.
	RulePluginRequired = "plugin_required"
	// RulePluginLost is the rule of directories that were dishes of a plugin that now fails.
	RulePluginLost = "plugin_lost"
)

// missingPlugins returns the problems of plugins that the workspace needs and that do not work.
func missingPlugins(w *Workspace, from *discovery.Options) []diagnostics.Diagnostic {
	if len(from.Config.Plugins.Required)+len(from.Candidates) == 0 {
		return nil
	}
	failures := w.Plugins.Failures()
	maps.Copy(failures, w.Failed)
	return append(required(from, failures), lost(w, failures)...)
}

// required returns an error for each plugin that the configuration requires and that does not work.
func required(from *discovery.Options, failures map[string]*adapters.Failure) (list []diagnostics.Diagnostic) {
	for _, id := range from.Config.Plugins.Required {
		failure := failures[id.Text]
		if failure == nil && from.Registry.ByID(id.Text) != nil {
			continue
		}
		const message = "the plugin %s is required, and "
		if failure != nil {
			list = append(list, id.Pos.Error(string(failure.Code), message+"it failed: %v", id.Text, failure).WithHint(failure.Hint))
			continue
		}
		d := id.Pos.Error(RulePluginRequired, message+"no executable %s%s is on PATH", id.Text, discovery.PluginPrefix, id.Text)
		d.Hint = diagnostics.Suggest(id.Text, from.Registry.IDs())
		if i := slices.IndexFunc(from.Candidates, func(c adapters.Candidate) bool { return c.ID == id.Text }); i >= 0 {
			c := from.Candidates[i]
			d = id.Pos.Error(RulePluginRequired, message+"%s is not used: %s", id.Text, c.Path, c.SkipReason)
			d.Hint = c.SkipHint
		}
		list = append(list, d)
	}
	return list
}

// The part of the saved answers with the dishes of each plugin when it last worked. Without it, bento would not know
// that the workspace needs a failed plugin.
const (
	dishesPart = "plugin-dishes"
	maxDishes  = 100_000 // of a plugin; bento stores no more
)

// lost returns a warning for each failed plugin whose earlier dishes are still directories. It saves the dishes of all
// plugins.
func lost(w *Workspace, failures map[string]*adapters.Failure) (list []diagnostics.Diagnostic) {
	now := dishesOfPlugins(w.Workspace)
	var before map[string][]string
	if !w.saved.Get(dishesPart, &before) {
		before = nil
	}
	for _, id := range slices.Sorted(maps.Keys(failures)) {
		var gone []string
		for _, path := range before[id] {
			if !slices.Contains(now[id], path) && isDir(w.Tree, path) {
				gone = append(gone, path)
			}
		}
		if len(gone) > 0 {
			list = append(list, lostDishes(id, gone))
			now[id] = slices.Sorted(slices.Values(append(now[id], gone...)))
		}
	}
	w.saved.Set(dishesPart, now)
	return list
}

// dishesOfPlugins returns the paths of the dishes of plugins, by id.
func dishesOfPlugins(ws *dish.Workspace) map[string][]string {
	byID := make(map[string][]string)
	for _, d := range ws.Dishes {
		if _, isPlugin := d.Adapter.(adapters.Starter); isPlugin {
			if id := d.Adapter.Manifest().AdapterID; len(byID[id]) < maxDishes {
				byID[id] = append(byID[id], d.Path)
			}
		}
	}
	return byID
}

// isDir reports whether the walk found a directory at a path relative to the root.
func isDir(files *tree.Tree, path string) bool {
	_, ok := files.Stamp(path)
	return ok
}

func lostDishes(id string, paths []string) diagnostics.Diagnostic {
	shown := paths[:min(3, len(paths))]
	names := strings.Join(shown, ", ")
	if more := len(paths) - len(shown); more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return diagnostics.Pos{}.Warning(RulePluginLost, "the plugin %s failed: its tasks of earlier runs are missing in %s", id, names).
		WithHint(fmt.Sprintf("[plugins] required = [%q] makes this an error; [plugins] disable = [%q] says that it is not wanted", id, id))
}
