package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bentobuild/bento/cache/rawfile"
)

// checkFiles tries out what the file system of the workspace can do, in bento's own
// directory of it.
func (doc *diagnosis) checkFiles(w *workspace) {
	parent, err := w.env.State.Make(".")
	var dir string
	if err == nil {
		dir, err = os.MkdirTemp(parent, "doctor-")
	}
	if err != nil {
		doc.add("filesystem", "warn", err.Error(), "bento remembers nothing of this workspace, and everything is slower")
		return
	}
	defer os.RemoveAll(dir)
	doc.add("filesystem.case", "ok", caseOf(dir), "")
	doc.checkTimes(dir)
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
		doc.add("filesystem.symlinks", "warn", "there are none: "+err.Error(), "results with links cannot be restored here")
	} else {
		doc.add("filesystem.symlinks", "ok", "there are symbolic links", "")
	}
	doc.add("filesystem.reflink", "ok", cloneOf(dir), "")
}

func caseOf(dir string) string {
	if err := os.WriteFile(filepath.Join(dir, "Case"), nil, 0o644); err != nil {
		return "unknown: " + err.Error()
	}
	if _, err := os.Lstat(filepath.Join(dir, strings.ToLower("Case"))); err == nil {
		return "insensitive: A and a are the same file"
	}
	return "sensitive"
}

// checkTimes finds out how exactly a file's time is kept.
func (doc *diagnosis) checkTimes(dir string) {
	name := filepath.Join(dir, "time")
	want := time.Unix(1_700_000_001, 123_456_789)
	err := os.WriteFile(name, nil, 0o644)
	if err == nil {
		err = os.Chtimes(name, want, want)
	}
	fi, serr := os.Lstat(name)
	if err != nil || serr != nil {
		doc.add("filesystem.timestamps", "warn", fmt.Sprint("unknown: ", err), "")
		return
	}
	for _, unit := range []time.Duration{time.Nanosecond, 100 * time.Nanosecond, time.Microsecond, time.Millisecond, time.Second, 2 * time.Second} {
		if !want.Truncate(unit).Equal(fi.ModTime().Truncate(unit)) {
			continue
		}
		status, hint := "ok", ""
		if unit >= time.Second {
			status, hint = "warn", "files that were changed within the last seconds are read again to be sure"
		}
		doc.add("filesystem.timestamps", status, "kept to "+unit.String(), hint)
		return
	}
	doc.add("filesystem.timestamps", "warn", "not kept", "")
}

// cloneOf tells whether files can share their blocks.
func cloneOf(dir string) string {
	name := filepath.Join(dir, "blocks")
	if err := os.WriteFile(name, make([]byte, 1<<16), 0o644); err != nil {
		return "unknown: " + err.Error()
	}
	src, err := rawfile.Open(name)
	if err != nil {
		return "unknown: " + err.Error()
	}
	defer src.Close()
	dst, err := rawfile.Create(name+".clone", 0o644)
	if err != nil {
		return "unknown: " + err.Error()
	}
	defer dst.Close()
	if dst.Clone(src) {
		return "there are reflinks: restoring copies nothing"
	}
	return "there are none: restoring copies"
}
