package tree

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/tree/disk"
)

func file(path string, kind disk.Kind) *disk.Entry {
	n := uint64(len(path))
	return &disk.Entry{Path: path, Kind: kind, Mode: 0o644, Size: int64(n), Mtime: -5, Ctime: 1 << 62, Ino: 1 << 63, Dev: 9 + n}
}

// sample writes directories of all kinds of neighbours.
func sample() []byte {
	var w tableWriter
	dir := func(path string, before int, settled bool, files []string, below func()) {
		w.Enter(tableDir{Path: path, Stamp: disk.Stamp{Mtime: 1, Ctime: 2, Ino: 3, Dev: uint64(len(path))}, Settled: settled, Before: before})
		for _, name := range files {
			w.Add(file(name, disk.File), &[32]byte{byte(len(name))})
		}
		w.Files()
		below()
		w.Leave()
	}
	none := func() {}
	dir("", 0, true, []string{"a.txt", "z"}, func() {
		dir("-", 0, true, nil, none)
		dir("a.d", 0, true, []string{"a.d/\xff\n"}, none)
		dir("a", 1, false, nil, func() { dir("a/b", 0, true, []string{"a/b/c"}, none) })
	})
	w.Add(file("dist/x", disk.File), &[32]byte{7})
	w.Add(file("link", disk.Link), nil)
	return w.Payload(tableHead{Basis: tableRules{Rules: [32]byte{1}, Tracked: [32]byte{2}}, Git: tableGit{Stamp: disk.Stamp{Mtime: 4}, Settled: true}, Saved: 42})
}

func TestTable(t *testing.T) {
	tab, err := readTable(sample())
	if err != nil {
		t.Fatal(err)
	}
	if tab.Saved() != 42 || tab.Basis != (tableRules{Rules: [32]byte{1}, Tracked: [32]byte{2}}) || tab.Git != (tableGit{Stamp: disk.Stamp{Mtime: 4}, Settled: true}) {
		t.Errorf("head: %d, %v, %v", tab.Saved(), tab.Basis, tab.Git)
	}
	var dirs []string
	for i := range tab.Dirs() {
		d := tab.Dir(i)
		dirs = append(dirs, d.Path)
		if tab.FindDir(d.Path) != i || d.Settled != (d.Path != "a") || d.Stamp.Dev != uint64(len(d.Path)) {
			t.Errorf("directory %d is %+v", i, d)
		}
	}
	if diff := cmp.Diff([]string{"", "-", "a.d", "a", "a/b"}, dirs); diff != "" {
		t.Error(diff)
	}
	if tab.Below(0) != 5 || tab.Below(1) != 2 || tab.Below(2) != 3 || tab.Below(3) != 5 || tab.Below(4) != 5 {
		t.Error("directories are in the wrong ones")
	}
	for _, path := range []string{"a.txt", "z", "a/b/c", "a.d/\xff\n", "dist/x"} {
		i := tab.Find(path)
		if i < 0 {
			t.Errorf("%q is not found", path)
			continue
		}
		other := file(path, disk.File)
		other.Ctime++
		sum, known := tab.Sum(i)
		if !known || sum == [32]byte{} || !tab.Same(i, file(path, disk.File)) || tab.Same(i, other) || tab.Same(i, file(path, disk.Special)) {
			t.Errorf("%q is not what was written", path)
		}
	}
	if _, known := tab.Sum(tab.Find("link")); known {
		t.Error("a digest comes from nowhere")
	}
	for _, path := range []string{"", "a", "b", "a/b", "a/b/d", "a.d", "dist", "no/such"} {
		if i := tab.Find(path); i >= 0 {
			t.Errorf("%q is found, at %d", path, i)
		}
	}
}

// FuzzRead checks that any bytes are refused, or are a table that supports all queries and is equal
// after it was written again.
func FuzzRead(f *testing.F) {
	f.Add(sample())
	f.Add(new(tableWriter).Payload(tableHead{}))
	f.Fuzz(func(t *testing.T, data []byte) {
		tab, err := readTable(data)
		if err != nil {
			return
		}
		for i := range tab.count() {
			path, _ := tab.File(i)
			if found := tab.Find(path); found != i && found < tab.inTree {
				t.Errorf("file %d, %q, is found at %d", i, path, found)
			}
			tab.Sum(i)
			tab.Same(i, &disk.Entry{Path: path})
		}
		again := rewrite(tab)
		if back, err := readTable(again); err != nil || string(rewrite(back)) != string(again) {
			t.Errorf("written again: %v", err)
		}
	})
}

// rewrite writes a table that was read.
func rewrite(t *indexTable) []byte {
	w := &tableWriter{}
	add := func(i int) {
		e := &disk.Entry{}
		e.Path, e.Kind = t.File(i)
		if sum, known := t.Sum(i); known {
			w.Add(e, &sum)
		} else {
			w.Add(e, nil)
		}
	}
	var dir func(i int)
	dir = func(i int) {
		w.Enter(t.Dir(i))
		for k, to := t.FilesOf(i); k < to; k++ {
			add(k)
		}
		w.Files()
		for k := i + 1; k < t.Below(i); k = t.Below(k) {
			dir(k)
		}
		w.Leave()
	}
	if t.Dirs() > 0 {
		dir(0)
	}
	inTree, others := t.Files()
	for i := inTree; i < inTree+others; i++ {
		add(i)
	}
	return w.Payload(tableHead{Basis: t.Basis, Git: t.Git, Saved: t.Saved()})
}
