package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/template"
	"github.com/bentobuild/bento/plugin/adapter/answer"
)

// published is a document whose form is stable.
type published struct {
	name, title string
	also        []string // names of other commands that print the document
	value       any
}

// documents lists the documents that commands print with --json or write to files.
func documents() []published {
	return slices.Concat([]published{
		{name: "plan", title: "the tasks that would run, and why", value: report.Plan{}},
		{name: "run", title: "the results of a run", also: []string{"build", "check", "lint", "test", "ci"}, value: report.Run{}},
		{name: "install", title: "the results of installs", value: report.Install{}},
		{name: "verify", title: "what the keys of tasks do not hold", value: report.Verify{}},
		{name: "why", title: "the ingredients of a key", value: report.Why{}},
		{name: "graph", title: "the dependencies between dishes and between tasks", value: report.Graph{}},
		{name: "query.dependents", title: "what depends on dishes or a task, or what they depend on", also: []string{"query.dependencies"}, value: report.Related{}},
		{name: "query.tags", title: "the tags and their dishes", value: report.TagList{}},
		{name: "query.paths", title: "the dishes that have paths", value: report.PathOwners{}},
		{name: "event", title: "one line of --events", value: report.Event{}},
		{name: "error", title: "an error, in place of any other document", value: report.Error{}},
		{name: "plugin.list", title: "plugins on PATH", value: report.PluginList{}},
		{name: "plugin.info", title: "one plugin and its manifest", value: report.PluginInfo{}},
		{name: "plugin.call", title: "the answer of a plugin to one request", value: report.PluginCall{}},
		{name: "plugin.test", title: "the results of the conformance tests of a plugin or tool", also: []string{"tool.test", "ext.test"}, value: report.PluginTest{}},
		{name: "tool.list", title: "tools in bento.toml and on PATH", value: report.ToolList{}},
		{name: "tool.info", title: "one tool and what it is granted", value: report.ToolInfo{}},
		{name: "tool.run", title: "the answer of a tool to one call", value: report.ToolRun{}},
		{name: "plugin.lock", title: "the digests of trusted plugins", value: lockedPlugins{}},
		{name: "plugin.add", title: "the installed plugins", also: []string{"plugin.update"}, value: addedPlugins{}},
		{name: "plugin.publish", title: "the written package of a plugin", value: publishedPlugin{}},
		{name: "tool.add", title: "the installed packages of tools", value: addedTools{}},
		{name: "tool.remove", title: "the change of an installed package", also: []string{"tool.rollback", "tool.enable", "tool.disable", "plugin.remove"}, value: changedTool{}},
		{name: "tool.verify", title: "the checks of installed packages", value: verifiedTools{}},
		{name: "tool.package", title: "the written package of a tool", value: packedTool{}},
		{name: "cache.stats", title: "the results and bytes of the cache", value: report.CacheStats{}},
		{name: "cache.status", title: "the remote cache of the workspace", value: report.CacheStatus{}},
		{name: "cache.push", title: "the results that were sent to the remote cache", value: report.CachePushed{}},
		{name: "cache.pull", title: "the results that were got from the remote cache", value: report.CachePulled{}},
		{name: "cache.keygen", title: "a pair of keys of the remote cache", value: report.CacheKeys{}},
		{name: "cache.prune", title: "the results that were evicted from the cache", also: []string{"cache.clear"}, value: report.CacheRemoved{}},
		{name: "cache.fsck", title: "the damage found in the cache", value: report.CacheCheck{}},
	}, ownDocuments(), extensionDocuments(), topicDocuments())
}

// extensionDocuments are the documents of the commands about extensions.
func extensionDocuments() []published {
	return []published{
		{name: "ext.list", title: "extensions in bento.toml and in your own configuration", value: report.ExtensionList{}},
		{name: "ext.info", title: "one extension and what it is granted", value: report.ExtensionInfo{}},
		{name: "ext.approve", title: "the status of an extension after a decision", also: []string{"ext.enable", "ext.disable", "ext.reload"}, value: report.ExtensionChanged{}},
		{name: "ext.logs", title: "what an extension has logged", value: report.ExtensionLog{}},
		{name: "x", title: "the result of a command of an extension", value: report.Called{}},
		{name: "ext.audit", title: "decisions about the requests of an extension", value: report.ExtensionAudit{}},
	}
}

// topicDocuments are the payloads of the topics that extensions can subscribe to.
func topicDocuments() (list []published) {
	for _, t := range report.Topics() {
		list = append(list, published{name: "ext." + t.Name, title: t.Title, value: t.Payload})
	}
	return list
}

// ownDocuments are the documents of package main.
func ownDocuments() []published {
	return []published{
		{name: "init", title: "a new workspace", value: initialised{}},
		{name: "add", title: "the added dependencies", value: added{}},
		{name: "dish.add", title: "a new dish", value: addedDish{}},
		{name: "new", title: "a directory made from a template", value: madeNew{}},
		{name: "new.list", title: "the templates of a workspace", value: templateList{}},
		{name: "prune", title: "a subset of the workspace", value: pruned{}},
		{name: "dish.list", title: "the dishes of a workspace", value: report.DishList{}},
		{name: "owners", title: "the owners of paths by CODEOWNERS", value: report.Owners{}},
		{name: "tasks", title: "the tasks of a workspace", value: report.TaskList{}},
		{name: "findings", title: "the findings of the tools in the last run", value: report.Findings{}},
		{name: "runs", title: "the last runs, the newest first", value: report.Runs{}},
		{name: "logs", title: "the last log of a task", value: lastLog{}},
		{name: "box.add", title: "a new or changed bento", value: addedBox{}},
		{name: "box.list", title: "the bentos of a workspace", value: report.BentoList{}},
		{name: "doctor", title: "the checks of the tools and settings", value: report.Diagnosis{}},
		{name: "artifacts", title: "outputs with their digests", value: report.Artifacts{}},
		{name: "clean", title: "the removed outputs", value: report.Cleaned{}},
		{name: "toolchain.list", title: "the required and found versions of tools", also: []string{"toolchain.check"}, value: report.Toolchains{}},
		{name: "container.lock", title: "the digests of the images of tasks", also: []string{"container.update"}, value: lockedImages{}},
		{name: "toolchain.pin", title: "the pinned versions", value: pinned{}},
		{name: "plugin.new", title: "the written project of an adapter or extension", also: []string{"ext.new"}, value: newPlugin{}},
		{name: "explain", title: "the meaning of codes", value: report.Explained{}},
		{name: "schema", title: "the published schemas", value: schemaList{}},
		{name: "help", title: "the commands, their flags and exit codes", value: helpDoc{}},
		{name: "ui", title: "the address of a served page", value: servedUI{}},
		{name: "version", title: "the version of bento", value: versionInfo{}},
		{name: "man", title: "the written manual pages", value: manPages{}},
	}
}

// schemaOf returns the JSON Schema of a document.
func (p published) schemaOf(closed bool) map[string]any {
	o := report.SchemaOptions{ID: report.Schema(p.name), Title: p.title, Closed: closed}
	for _, name := range p.also {
		o.IDs = append(o.IDs, report.Schema(name))
	}
	return report.SchemaOf(p.value, o)
}

// configurationSchemas lists the schemas of the files that configure bento, and of the messages of
// the adapter protocol.
func configurationSchemas() []config.FileSchema {
	list := config.Schemas()
	for i := range list {
		list[i].Name = "config." + list[i].Name
	}
	list = append(list, config.FileSchema{Name: "config.template", Title: "template.toml", Schema: template.Schema()})
	for _, m := range answer.Messages() {
		s := m.Schema()
		s["$id"] = "bento.plugin." + m.Name + "/1"
		list = append(list, config.FileSchema{Name: "plugin." + m.Name, Title: "the message " + m.Method + " of the adapter protocol: " + m.Title, Schema: s})
	}
	return list
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
		Annotations:       traits{Reads: true}.annotations(),
		Short:             "Print the JSON Schema of a document or a file, or list them",
		Long:              "Print the JSON Schema (draft 2020-12) of the document that a command prints with\n--json. A later bento may add members that the schema does not name.\n\nThe schemas config.workspace, config.dish, config.bento, config.adapter, config.own and\nconfig.template (draft 7) are of bento.toml, dish.toml, bentos/NAME.toml,\nbentos/adapters/ID.toml, your own configuration and template.toml, for editors. plugin.initialize and others are of the messages of the\nadapter protocol.",
		Example:           "  bento schema plan > plan.schema.json\n  bento schema config.dish > .schema/dish.json\n  bento schema",
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
	for _, f := range configurationSchemas() {
		if f.Name == name {
			return report.Write(s.out, f.Schema)
		}
	}
	return notFound("unknown_schema_target", fmt.Sprintf("no document or file of configuration is named %q", name), orList(name, schemaNames(), "bento schema lists them"))
}

func (s *session) listSchemas() error {
	doc := schemaList{Schema: report.Schema("schema")}
	for _, p := range documents() {
		doc.Entries = append(doc.Entries, schemaRow{p.name, report.Schema(p.name), p.title, p.also})
	}
	for _, f := range configurationSchemas() {
		id, _ := f.Schema["$id"].(string)
		doc.Entries = append(doc.Entries, schemaRow{f.Name, id, f.Title, nil})
	}
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	for _, e := range doc.Entries {
		fmt.Fprintf(s.out, "%-35s %s\n", e.Name, e.Title)
	}
	return nil
}

func schemaNames() []string {
	var names []string
	for _, p := range documents() {
		names = append(append(names, p.name), p.also...)
	}
	for _, f := range configurationSchemas() {
		names = append(names, f.Name)
	}
	return names
}
