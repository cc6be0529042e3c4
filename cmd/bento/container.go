package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/container"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/state"
)

func containerCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "container", GroupID: "setup", Short: "Pin the images in which tasks run",
		Long: "Tasks run in containers where bento.toml or dish.toml has `container`. Their keys hold\nthe digest of the image, which " + container.LockFile + " has for each tag.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use: "lock", Short: "Write the digests of new images to " + container.LockFile,
		Long:    "Ask podman or docker for the digest of each image that " + container.LockFile + " lacks, and pull\nthe images that this machine lacks. Digests that the file has stay; those of images\nthat no task uses are removed.",
		Example: "  bento container lock", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.lockImages(cmd.Context(), "container.lock", nil) },
	}, &cobra.Command{
		Use: "update [IMAGE…]", Short: "Write the present digests of images to " + container.LockFile,
		Long:    "Pull the images, by default all, and write their present digests to " + container.LockFile + ".\nTasks whose image has another digest then have another key.",
		Example: "  bento container update\n  bento container update golang:1.26",
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.lockImages(cmd.Context(), "container.update", args)
		},
	})
	return cmd
}

// lockedImages is the document of `bento container lock` and `bento container update`.
type lockedImages struct {
	Schema  string            `json:"schema"`
	Path    string            `json:"path"`
	Images  map[string]string `json:"images"`  // digests by name
	Changed []string          `json:"changed"` // the names with another digest than before
}

// lockImages writes the lock file of images. With container.update it asks for those named again, or for all.
func (s *session) lockImages(ctx context.Context, command string, names []string) error {
	w, err := s.open(ctx, s.lines())
	if err != nil {
		return err
	}
	defer w.close()
	report.WriteProblems(s.err, s.style, w.Problems)
	if err := diagnostics.AsError(diagnostics.Errors(w.Problems)); err != nil {
		return err
	}
	used := imagesOf(w)
	for _, name := range names {
		if used[name] == nil {
			return notFound("image_unused", fmt.Sprintf("no task runs in the image %s", name), diagnostics.Suggest(name, slices.Sorted(maps.Keys(used))))
		}
	}
	old, err := container.ReadLock(w.Root)
	if err != nil && command == "container.lock" {
		return err
	}
	doc := lockedImages{Schema: report.Schema(command), Path: container.LockFile, Images: map[string]string{}, Changed: []string{}}
	host := s.containers(w.Workspace)
	for _, name := range slices.Sorted(maps.Keys(used)) {
		fresh := command == "container.update" && (len(names) == 0 || slices.Contains(names, name))
		if doc.Images[name] = old[name]; old[name] != "" && !fresh {
			continue
		}
		if doc.Images[name], err = host.Resolve(ctx, used[name], fresh); err != nil {
			return err
		}
		if doc.Images[name] != old[name] {
			doc.Changed = append(doc.Changed, name)
		}
	}
	if !maps.Equal(doc.Images, old) {
		if err := state.WriteFile(filepath.Join(w.Root, container.LockFile), []byte(container.Lock(doc.Images).Text()), 0o644); err != nil {
			return err
		}
	}
	return show(s, doc, writeLockedImages)
}

// imagesOf returns the images of tasks that have no digest in their name.
func imagesOf(w *opened) map[string]*dish.Container {
	p, _ := wholePlan(w)
	used := make(map[string]*dish.Container)
	for _, d := range w.Dishes {
		for _, t := range p.TasksOf(d) {
			if c := t.Container; c != nil && c.Image != "" && !strings.Contains(c.Image, "@") {
				used[c.Image] = c
			}
		}
	}
	return used
}

// checkContainers tries the engines of the containers of tasks, if there are any.
func (doc *diagnosis) checkContainers(ctx context.Context, s *session, w *opened) {
	p, _ := wholePlan(w)
	host := s.containers(w.Workspace)
	tried, unlocked := make(map[string]bool), make(map[string]bool)
	for _, d := range w.Dishes {
		for _, t := range p.TasksOf(d) {
			c := t.Container
			if c == nil {
				continue
			}
			if !tried[c.Engine] {
				tried[c.Engine] = true
				doc.addEngine(host.Engine(ctx, c))
			}
			if _, err := host.ImageOf(c); err != nil && !unlocked[c.Shown()] {
				unlocked[c.Shown()] = true
				doc.add("container.image", "fail", err.Error(), "bento container lock writes the digests of images to "+container.LockFile)
			}
		}
	}
}

func (doc *diagnosis) addEngine(says string, err error) {
	if err != nil {
		doc.add("container", "fail", err.Error(), "tasks with container cannot run here")
		return
	}
	doc.add("container", "ok", says, "")
}

func writeLockedImages(w io.Writer, _ report.Style, doc lockedImages) {
	fmt.Fprintf(w, "%s: %s, %d changed\n", doc.Path, report.Count(len(doc.Images), "image"), len(doc.Changed))
	for _, name := range doc.Changed {
		fmt.Fprintf(w, "  %s  %s\n", report.Printable(name), doc.Images[name])
	}
}
