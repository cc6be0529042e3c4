package main

import (
	"maps"
	"path"
	"slices"

	"github.com/bentobuild/bento/internal/plan"
)

// toolFiles returns the files of the workspace that belong to the tools of the tasks. git may ignore them.
func (l *look) toolFiles() (files []string) {
	for _, t := range l.plan.Tasks {
		for _, use := range []*plan.ToolUse{t.Tool, t.Parser} {
			if use != nil {
				files = append(files, use.Files...)
			}
		}
	}
	return files
}

// above returns all parent directories of files. A compiler may remove and create them.
func above(files []string) []string {
	seen := make(map[string]bool)
	for _, file := range files {
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			seen[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
