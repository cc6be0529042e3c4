package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/plugins"
	"github.com/bentobuild/bento/internal/report/schema"
)

// published is a document that bento prints and promises the form of.
type published struct {
	name, title string
	also        []string // names of commands that print the same
	value       any
}

// documents lists everything that is printed with --json, and what is written to
// files of JSON.
func documents() []published {
	return slices.Concat([]published{
		{name: "plan", title: "what would run, and why", value: report.Plan{}},
		{name: "run", title: "how a run went", also: []string{"build", "check", "lint", "test", "ci"}, value: report.Run{}},
		{name: "install", title: "what was installed", value: report.Install{}},
		{name: "why", title: "what a key is made of", value: report.Why{}},
		{name: "graph", title: "how dishes and tasks depend on each other", value: report.Graph{}},
		{name: "event", title: "one line of --events", value: report.Event{}},
		{name: "error", title: "what went wrong, in place of any other document", value: report.Error{}},
		{name: "plugin.list", title: "plugins on PATH", value: plugins.List{}},
		{name: "plugin.info", title: "one plugin and its manifest", value: plugins.Info{}},
		{name: "plugin.call", title: "the answer of a plugin", value: plugins.Call{}},
		{name: "plugin.test", title: "how a plugin keeps to the contract", value: plugins.Test{}},
		{name: "plugin.lock", title: "the digests of trusted plugins", value: lockedPlugins{}},
		{name: "cache.stats", title: "what the cache holds", value: report.CacheStats{}},
		{name: "cache.prune", title: "what was removed from the cache", also: []string{"cache.clear"}, value: report.CacheRemoved{}},
		{name: "cache.fsck", title: "the state of the cache", value: report.CacheCheck{}},
	}, ownDocuments())
}

// ownDocuments are those that only commands know.
func ownDocuments() []published {
	return []published{
		{name: "init", title: "a workspace that was made", value: initialised{}},
		{name: "add", title: "dependencies that were added", value: added{}},
		{name: "dish.add", title: "a dish that was made", value: addedDish{}},
		{name: "dish.list", title: "the dishes of a workspace", value: dishList{}},
		{name: "box.add", title: "a bento that was written", value: addedBox{}},
		{name: "box.list", title: "the bentos of a workspace", value: boxList{}},
		{name: "doctor", title: "what is there, and what is missing", value: diagnosis{}},
		{name: "artifacts", title: "outputs with their digests", value: artifacts{}},
		{name: "clean", title: "outputs that were removed", value: cleaned{}},
		{name: "toolchain.list", title: "versions asked for and there", also: []string{"toolchain.check"}, value: toolReport{}},
		{name: "toolchain.pin", title: "versions that were written down", value: pinned{}},
		{name: "explain", title: "what codes mean", value: explained{}},
		{name: "schema", title: "the published schemas", value: schemaList{}},
		{name: "version", title: "the version of bento", value: versionInfo{}},
		{name: "man", title: "the manual pages that were written", value: manPages{}},
	}
}

// schemaOf gives the JSON Schema of a document.
func (p published) schemaOf(closed bool) map[string]any {
	o := schema.Options{ID: report.Schema(p.name), Title: p.title, Closed: closed}
	for _, name := range p.also {
		o.IDs = append(o.IDs, report.Schema(name))
	}
	return schema.Of(p.value, o)
}

// schemaList is the document of `bento schema`.
type schemaList struct {
	Schema  string      `json:"schema"`
	Entries []schemaRow `json:"entries"`
}

type schemaRow struct {
	Name  string   `json:"name"`
	ID    string   `json:"id"`
	Title string   `json:"title"`
	Also  []string `json:"also,omitempty"`
}

func schemaCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "schema [TARGET]", GroupID: "other",
		Short:             "Print the JSON Schema of a document, or list them",
		Long:              "Print the JSON Schema (draft 2020-12) of what a command prints with --json. Members\nthat it does not name may be added by a later bento.",
		Example:           "  bento schema plan > plan.schema.json\n  bento schema plugin.list\n  bento schema",
		Args:              atMost(1, "bento schema takes one name"),
		ValidArgsFunction: once(schemaNames),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return s.printSchema(args[0])
			}
			return s.listSchemas()
		},
	}
}

func (s *session) printSchema(name string) error {
	for _, p := range documents() {
		if slices.Contains(append(p.also, p.name), strings.TrimSuffix(strings.TrimPrefix(name, "bento."), "/1")) {
			return report.Write(s.out, p.schemaOf(false))
		}
	}
	return notFound("unknown_schema_target", fmt.Sprintf("no document is named %q", name), orList(name, schemaNames(), "bento schema lists them"))
}

func (s *session) listSchemas() error {
	doc := schemaList{Schema: report.Schema("schema")}
	for _, p := range documents() {
		doc.Entries = append(doc.Entries, schemaRow{p.name, report.Schema(p.name), p.title, p.also})
	}
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	for _, e := range doc.Entries {
		fmt.Fprintf(s.out, "%-16s %s\n", e.Name, e.Title)
	}
	return nil
}

func schemaNames() []string {
	var names []string
	for _, p := range documents() {
		names = append(append(names, p.name), p.also...)
	}
	return names
}
