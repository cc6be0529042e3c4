package action

import (
	"slices"
	"strings"
	"time"
)

// Use is a set of ways in which a command used a path.
type Use uint8

const (
	// Read: the content of the file or the target of the link was read, or the file was executed, before
	// the command wrote it.
	Read Use = 1 << iota
	// List: the names in the directory were listed.
	List
	// Stat: whether the path exists, or of which kind it is, was asked before the command wrote it.
	Stat
	// Write: the file was made, changed or opened for writing, or got another name.
	Write
	// Remove: the path was removed or renamed.
	Remove
)

// UsedFile is a path that a command used.
type UsedFile struct {
	Path   string // absolute; its directories are no links
	Use    Use
	Absent bool // nothing was there at the first use
}

// Used lists what a command used, as an Executor has observed it.
type Used struct {
	Began   time.Time
	Calls   int           // how many calls were stopped to note what they use
	CPU     time.Duration // of the command, as in proc.Result
	Files   []UsedFile    // in the workspace, sorted by path
	Outside []string      // other files that were opened or executed, sorted; not all if they are very many
	// Unseen are the reasons why more files of the workspace than Files may have been used, sorted; nil if
	// Files is complete.
	Unseen []string
	// Servers are reasons, too: the servers that the command used and did not start, sorted. What they used for it is
	// unknown.
	Servers []string
	// Denied are the files of the workspace that Limits denied, sorted by path; not all if they are very many.
	Denied []UsedFile
	// LacksRights says that a program of another owner did not get the rights of its owner, because it was
	// observed.
	LacksRights bool
}

// After returns what a command used in two attempts, first as before says, then as u says; before is nil for none. What
// the second attempt read is its own where the first had written it. Denied and LacksRights are those of u.
func (u *Used) After(before *Used) *Used {
	if before == nil {
		return u
	}
	both := &Used{Began: before.Began, Calls: before.Calls + u.Calls, CPU: before.CPU + u.CPU, Denied: u.Denied, LacksRights: u.LacksRights}
	both.Outside = union(before.Outside, u.Outside)
	both.Unseen, both.Servers = union(before.Unseen, u.Unseen), union(before.Servers, u.Servers)
	later := make(map[string]UsedFile, len(u.Files))
	for _, f := range u.Files {
		later[f.Path] = f
	}
	for _, f := range before.Files {
		use := later[f.Path].Use
		if f.Use&(Write|Remove) != 0 {
			use &= Write | Remove
		}
		f.Use |= use
		both.Files = append(both.Files, f)
		delete(later, f.Path)
	}
	for _, f := range u.Files {
		if _, is := later[f.Path]; is {
			both.Files = append(both.Files, f)
		}
	}
	slices.SortFunc(both.Files, func(a, b UsedFile) int { return strings.Compare(a.Path, b.Path) })
	return both
}

// union returns the elements of both lists, sorted.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// Overlook says what is not noted: what programs look at only to find the members of a workspace, and what git looks at.
type Overlook struct {
	// SeesGit says that what git looks at is noted, as for other programs.
	SeesGit bool
	// Runs reports whether the execution of a file with these words is such a program. Nil: none is.
	Runs func(file string, words []string) bool
	// At reports whether such a program overlooks a file that it uses and does not change, if it works in dir, an absolute
	// path. isDir says that the file is a directory.
	At func(dir string, f UsedFile, isDir bool) bool
}

// Limits say which files of the workspace a command may use. To read links and names is not limited.
type Limits struct {
	// Allows reports whether the file at an absolute path, whose directories are no links, may be read or, with
	// change, made, changed or removed; dir says that it is a directory. It is called by one goroutine at a time.
	Allows func(path string, change, dir bool) bool
	// OnlyChanges says that reading is limited in another way. Then nothing that a command reads is observed.
	OnlyChanges bool
}
