package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/owndir"
)

// checkFiles tests the features of the workspace's file system, in bento's own directory.
func (doc *diagnosis) checkFiles(w *opened) {
	dir, err := w.env.State.Temp()
	if err != nil {
		doc.add("filesystem", "warn", err.Error(), "bento keeps no state of this workspace, so every command is slower")
		return
	}
	defer dir.Remove()
	doc.add("filesystem.case", "ok", caseOf(dir), "")
	doc.checkTimes(dir)
	if err := dir.Link("nowhere", "link"); err != nil {
		doc.add("filesystem.symlinks", "warn", "not supported: "+err.Error(), "bento cannot restore results with links here")
	} else {
		doc.add("filesystem.symlinks", "ok", "supported", "")
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

// checkTimes measures the precision of file times.
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
			status, hint = "warn", "bento reads files again that changed within the last seconds"
		}
		doc.add("filesystem.timestamps", status, "kept to "+unit.String(), hint)
		return
	}
	doc.add("filesystem.timestamps", "warn", "not kept", "")
}

// timeKept sets the time of a file to want and returns the time that the file system stored.
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

// cloneOf reports whether files can share their blocks.
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
		return "supported: a restore copies no content"
	}
	return "not supported: a restore copies content"
}
