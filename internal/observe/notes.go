package observe

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/action"
)

// notes collects the uses of paths.
type notes struct {
	root        string
	files       map[string]*action.UsedFile
	outside     map[string]bool
	denied      map[string]*action.UsedFile
	lacksRights bool
	calls       int
	unseen      map[string]bool
	servers     map[string]bool     // see action.Used
	was         map[string]identity // what lay at a path before a call that may change it
}

// identity is different for every version of a file.
type identity struct {
	inode   uint64
	size    int64
	changed int64 // in nanoseconds
	dir     bool
}

func newNotes(root string) *notes {
	return &notes{root: root, files: make(map[string]*action.UsedFile), outside: make(map[string]bool), denied: make(map[string]*action.UsedFile), unseen: make(map[string]bool), servers: make(map[string]bool), was: make(map[string]identity)}
}

// within reports whether path is root or in it.
func within(root, path string) bool {
	return strings.HasPrefix(path, root) && (len(path) == len(root) || path[len(root)] == '/' || root == "/")
}

// add notes a use of path. What a program reads after it has written it is its own.
func (n *notes) add(path string, use action.Use, absent bool) {
	f := n.files[path]
	if f == nil {
		if len(n.files) >= maxFiles {
			n.unseen["more than 262144 files were used"] = true
			return
		}
		f = &action.UsedFile{Path: path, Absent: absent}
		n.files[path] = f
	}
	if f.Use&(action.Write|action.Remove) != 0 {
		use &^= action.Read | action.Stat
	}
	f.Use |= use
}

// willChange notes what lies at a path before a call that may change it for the first time.
func (n *notes) willChange(path string, is identity) {
	if f := n.files[path]; f == nil || f.Use&(action.Write|action.Remove) == 0 {
		n.was[path] = is
	}
}

// unchanged takes back that a path was changed: all such calls have failed, or nothing was written. It may have
// been read afterwards.
func (n *notes) unchanged(path string) {
	if f := n.files[path]; f != nil && n.was[path].dir {
		f.Use = f.Use&^(action.Write|action.Remove) | action.Stat
	} else if f != nil {
		f.Use = f.Use&^(action.Write|action.Remove) | action.Read
	}
}

// addOutside notes a file that was opened outside of the root.
func (n *notes) addOutside(path string) {
	if len(n.outside) < maxOutside {
		n.outside[path] = true
	}
}

// maxDenied bounds the files that are named as denied.
const maxDenied = 1000

// deny notes a use of path that was denied.
func (n *notes) deny(path string, use action.Use, absent bool) {
	if f := n.denied[path]; f != nil {
		f.Use |= use
	} else if len(n.denied) < maxDenied {
		n.denied[path] = &action.UsedFile{Path: path, Use: use, Absent: absent}
	}
}

// rename notes that from got the name to, with everything in it that was noted as written.
func (n *notes) rename(from, to string, dir bool) {
	if !dir {
		return
	}
	var inside []*action.UsedFile
	for _, f := range n.files {
		if f.Use&action.Write != 0 && f.Path != from && within(from, f.Path) {
			inside = append(inside, f)
		}
	}
	for _, f := range inside {
		f.Use |= action.Remove
		if f.Use&^action.Remove == action.Write && f.Absent {
			delete(n.files, f.Path) // the program made it and gave it another name: nobody else sees it
		}
		n.add(to+f.Path[len(from):], action.Write, true)
	}
}

func (n *notes) used() *action.Used {
	u := &action.Used{Calls: n.calls, Unseen: slices.Sorted(maps.Keys(n.unseen)), Servers: slices.Sorted(maps.Keys(n.servers)), Outside: slices.Sorted(maps.Keys(n.outside)), LacksRights: n.lacksRights}
	for _, f := range n.files {
		u.Files = append(u.Files, *f)
	}
	for _, f := range n.denied {
		u.Denied = append(u.Denied, *f)
	}
	for _, list := range [][]action.UsedFile{u.Files, u.Denied} {
		slices.SortFunc(list, func(a, b action.UsedFile) int { return cmp.Compare(a.Path, b.Path) })
	}
	return u
}
