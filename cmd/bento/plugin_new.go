package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/scaffold"
)

func pluginNewCommand(s *session) *cobra.Command {
	var language, dir, sdk string
	cmd := &cobra.Command{
		Use: "new ID", Short: "Write the project of a new adapter",
		Long: "Write a small, complete project: an adapter in the language of --lang, fixtures with the answers\n" +
			"that are expected, a README and a Makefile. make leaves ./bento-adapter-ID, make test tests it. With\n" +
			"--lang toml the adapter is a definition without a program.",
		Example: "  bento plugin new zig --lang python\n  bento plugin new zig --lang toml --dir adapters/zig",
		Args:    exactly(1, "bento plugin new requires the id of the adapter"),
		RunE: func(_ *cobra.Command, args []string) error {
			return s.pluginNew(args[0], newPlugin{Language: language, Dir: dir}, sdk)
		},
	}
	cmd.Flags().StringVar(&language, "lang", "", "the `LANGUAGE` of the adapter: "+strings.Join(scaffold.Languages(), ", "))
	cmd.Flags().StringVar(&dir, "dir", "", "the new `DIRECTORY`; default bento-adapter-ID")
	cmd.Flags().StringVar(&sdk, "sdk", "", sdkUsage)
	return cmd
}

// newPlugin is the document of `bento plugin new`.
type newPlugin struct {
	Schema   string   `json:"schema"`
	ID       string   `json:"id"`
	Language string   `json:"language"`
	Dir      string   `json:"dir"`
	Files    []string `json:"files"`
}

func (s *session) pluginNew(id string, doc newPlugin, sdk string) error {
	if !slices.Contains(scaffold.Languages(), doc.Language) {
		return usageError(fmt.Sprintf("--lang %q is no language of an adapter", doc.Language), "expected one of "+strings.Join(scaffold.Languages(), ", "))
	}
	if err := s.freeID(id); err != nil {
		return err
	}
	module, err := s.sdk(doc.Language, sdk)
	if err != nil {
		return err
	}
	files, err := scaffold.Files(id, doc.Language, module)
	if err != nil {
		return err
	}
	doc.Schema, doc.ID, doc.Dir = report.Schema("plugin.new"), id, cmp.Or(doc.Dir, "bento-adapter-"+id)
	return s.newProject(doc, files, "cd "+doc.Dir+" && make test")
}

// newProject writes a project and prints its document, or the next steps.
func (s *session) newProject(doc newPlugin, files []scaffold.File, next string) error {
	if err := writeProject(doc.Dir, files); err != nil {
		return err
	}
	for _, f := range files {
		doc.Files = append(doc.Files, f.Path)
	}
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	_, err := fmt.Fprintf(s.out, "%s: %s\nnext: %s\n", report.Printable(doc.Dir), report.Count(len(files), "file"), report.Printable(next))
	return err
}

// freeID returns an error if a new adapter cannot have the id.
func (s *session) freeID(id string) error {
	if !config.ValidPluginID(id) || strings.HasPrefix(id, "bento-adapter-") {
		return usageError(fmt.Sprintf("%q is no id of an adapter", id), "expected [a-z0-9][a-z0-9_-]*: the id is what follows bento-adapter- in the name of the file")
	}
	taken := func(by string) error {
		return notFound(config.RuleDuplicate, fmt.Sprintf("the id %q is taken by %s", id, by), "choose another id")
	}
	if slices.ContainsFunc(s.host().Adapters(snapshot.Options{}), func(a adapters.Adapter) bool { return a.Manifest().AdapterID == id }) {
		return taken("a built-in adapter of bento")
	}
	if config.ReservedID(id) {
		return taken("a key of [plugins]")
	}
	cfg := &config.Workspace{}
	if root, _, err := s.root(); err == nil {
		cfg, _ = config.Load(root, s.host().OwnConfig()) // its problems concern other commands
	}
	for _, a := range cfg.Adapters {
		if a.ID == id {
			return taken("the adapter that " + a.Pos.String() + " defines")
		}
	}
	in, _ := s.host().Places(cfg)
	found, _ := discovery.Adapters(in, cfg, (*host.Digests)(nil).Executable)
	for _, c := range found {
		if c.ID == id {
			return taken(c.Path)
		}
	}
	return nil
}

// writeProject writes files to a directory that is new or empty, all of them or none. It makes the
// directories above it.
func writeProject(dir string, files []scaffold.File) (err error) {
	if err := unused(dir); err != nil {
		return err
	}
	temp := ""
	if err = os.MkdirAll(filepath.Dir(dir), 0o755); err == nil {
		temp, err = os.MkdirTemp(filepath.Dir(dir), ".bento-new-")
	}
	if err != nil {
		return usageError(fmt.Sprintf("%q cannot be made: %v", dir, err), "name another directory with --dir")
	}
	defer os.RemoveAll(temp) // removes nothing after the rename
	for _, f := range files {
		path := filepath.Join(temp, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(f.Text, "#!") {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(f.Text), mode); err != nil {
			return err
		}
	}
	if err := os.Chmod(temp, 0o755); err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // an empty directory
		return err
	}
	return os.Rename(temp, dir)
}

// unused returns an error for a directory that is neither missing nor empty.
func unused(dir string) error {
	fi, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var entries []os.DirEntry
	if err == nil && fi.IsDir() {
		entries, err = os.ReadDir(dir)
	}
	why := "is no directory"
	switch {
	case err != nil:
		why = "cannot be read: " + bare(err).Error()
	case fi.IsDir() && len(entries) == 0:
		return nil
	case fi.IsDir():
		why = "is not empty"
	}
	return notFound(config.RuleDuplicate, fmt.Sprintf("%q %s", dir, why), "name a new directory with --dir")
}
