package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/owndir"
)

// checkFiles tries out what the file system of the workspace can do, in bento's own
// directory of it.
func (doc *diagnosis) checkFiles(w *workspace) {
	dir, err := w.env.State.Temp()
	if err != nil {
		doc.add("filesystem", "warn", err.Error(), "bento remembers nothing of this workspace, and everything is slower")
		return
	}
	defer dir.Remove()
	doc.add("filesystem.case", "ok", caseOf(dir), "")
	doc.checkTimes(dir)
	if err := dir.Link("nowhere", "link"); err != nil {
		doc.add("filesystem.symlinks", "warn", "there are none: "+err.Error(), "results with links cannot be restored here")
	} else {
		doc.add("filesystem.symlinks", "ok", "there are symbolic links", "")
	}
	doc.add("filesystem.reflink", "ok", cloneOf(dir), "")
}

func caseOf(dir *owndir.Temp) string {
	f, err := dir.Create("Case", 0o644)
	if err != nil {
		return "unknown: " + err.Error()
	}
	f.Close()
	if _, err := dir.Stat(strings.ToLower("Case")); err == nil {
		return "insensitive: A and a are the same file"
	}
	return "sensitive"
}

// checkTimes finds out how exactly a file's time is kept.
func (doc *diagnosis) checkTimes(dir *owndir.Temp) {
	want := time.Unix(1_700_000_001, 123_456_789)
	got, err := timeKept(dir, want)
	if err != nil {
		doc.add("filesystem.timestamps", "warn", fmt.Sprint("unknown: ", err), "")
		return
	}
	for _, unit := range []time.Duration{time.Nanosecond, 100 * time.Nanosecond, time.Microsecond, time.Millisecond, time.Second, 2 * time.Second} {
		if !want.Truncate(unit).Equal(got.Truncate(unit)) {
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

// timeKept returns the time of a file that was to have another.
func timeKept(dir *owndir.Temp, want time.Time) (time.Time, error) {
	f, err := dir.Create("time", 0o644)
	if err != nil {
		return time.Time{}, err
	}
	defer f.Close()
	if err := f.Touch(want); err != nil {
		return time.Time{}, err
	}
	info, err := dir.Stat("time")
	return info.Modified, err
}

// cloneOf tells whether files can share their blocks.
func cloneOf(dir *owndir.Temp) string {
	src, err := dir.Create("blocks", 0o644)
	if err == nil {
		defer src.Close()
		_, err = src.Write(make([]byte, 1<<16))
	}
	if err != nil {
		return "unknown: " + err.Error()
	}
	dst, err := dir.Create("blocks.clone", 0o644)
	if err != nil {
		return "unknown: " + err.Error()
	}
	defer dst.Close()
	if dst.Clone(src) {
		return "there are reflinks: restoring copies nothing"
	}
	return "there are none: restoring copies"
}
