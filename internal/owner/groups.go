package owner

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// maxAccounts is the largest size of the files of users and groups that are read, in bytes.
const maxAccounts = 1 << 20

// harmless reports whether all members of a group are trusted, so that a group-writable file is safe.
// etc is the directory of passwd(5) and group(5), run the directory of the services that list further
// users. It returns false when a file is unreadable or other sources list users.
func (t Trusted) harmless(etc, run string, gid uint32) bool {
	if runtime.GOOS == "darwin" || !onlyFiles(etc, run) {
		return false // Open Directory lists the users of macOS
	}
	groups, err := accounts(filepath.Join(etc, "group"), 4)
	if err != nil {
		return false
	}
	users, err := accounts(filepath.Join(etc, "passwd"), 7)
	if err != nil {
		return false
	}
	number := strconv.FormatUint(uint64(gid), 10)
	return t.noStrangers(groups, users, number)
}

// noStrangers is harmless for the two files. It returns false for an unlisted group, and for one
// with a password, which admits any user with the password.
func (t Trusted) noStrangers(groups, users [][]string, number string) bool {
	known := make(map[string]bool) // by user name: every line of the user is trusted
	for _, u := range users {
		uid, err := strconv.ParseUint(u[2], 10, 32)
		trusted := err == nil && t.TrustsUser(uint32(uid))
		if u[3] == number && !trusted {
			return false
		}
		before, seen := known[u[0]]
		known[u[0]] = trusted && (before || !seen)
	}
	listed := false
	for _, g := range groups {
		if g[2] != number {
			continue
		}
		listed = true
		if !slices.Contains([]string{"", "x", "*", "!"}, g[1]) {
			return false
		}
		for member := range strings.SplitSeq(g[3], ",") {
			if member != "" && !known[member] {
				return false
			}
		}
	}
	return listed
}

// accounts reads a file with a line of colon-separated fields for each user or group.
func accounts(path string, fields int) ([][]string, error) {
	lines, err := linesOf(path)
	if err != nil {
		return nil, err
	}
	var list [][]string
	for _, line := range lines {
		if line == "" || line[0] == '#' {
			continue
		}
		entry := strings.Split(line, ":")
		// A line that starts with + or - refers to another list.
		if len(entry) != fields || line[0] == '+' || line[0] == '-' || !isNumber(entry[2]) || fields == 7 && !isNumber(entry[3]) {
			return nil, errUnclear
		}
		list = append(list, entry)
	}
	return list, nil
}

// errUnclear is the error of a file that has an unknown kind of line, or is too large.
var errUnclear = errors.New("not a list of accounts")

// isNumber reports whether s is a number as strconv formats it, so that equal numbers have equal
// texts.
func isNumber(s string) bool {
	n, err := strconv.ParseUint(s, 10, 32)
	return err == nil && strconv.FormatUint(n, 10) == s
}

func linesOf(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxAccounts+1))
	if err == nil && len(data) > maxAccounts {
		err = errUnclear
	}
	return strings.Split(string(data), "\n"), err
}

// onlyFiles reports whether only files list users and groups (nsswitch.conf(5)).
func onlyFiles(etc, run string) bool {
	lines, err := linesOf(filepath.Join(etc, "nsswitch.conf"))
	if errors.Is(err, fs.ErrNotExist) {
		return true // the default
	}
	for _, line := range lines {
		line, _, _ = strings.Cut(line, "#")
		name, sources, _ := strings.Cut(strings.TrimSpace(line), ":")
		if !slices.Contains([]string{"passwd", "group", "initgroups"}, strings.TrimSpace(name)) {
			continue
		}
		for _, source := range strings.Fields(withoutActions(sources)) {
			if source != "files" && source != "compat" && !(source == "systemd" && systemdAddsNobody(etc, run)) {
				return false
			}
		}
	}
	return err == nil
}

// withoutActions removes the text in brackets, which is the condition of a source.
func withoutActions(sources string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(sources, "[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString(" ")
		_, sources, _ = strings.Cut(rest, "]")
	}
}

// systemdAddsNobody reports whether systemd adds no members to groups: there are no records of
// users, and only services run that serve the files or temporary users
// (systemd-userdbd.service(8)).
func systemdAddsNobody(etc, run string) bool {
	for _, dir := range []string{filepath.Join(etc, "userdb"), filepath.Join(run, "userdb"), filepath.Join(run, "host/userdb"), "/usr/local/lib/userdb", "/usr/lib/userdb"} {
		if names, err := os.ReadDir(dir); len(names) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	services, err := os.ReadDir(filepath.Join(run, "systemd/userdb"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	for _, s := range services {
		switch s.Name() {
		case "io.systemd.DropIn", "io.systemd.DynamicUser", "io.systemd.Machine", "io.systemd.Multiplexer", "io.systemd.NameServiceSwitch":
		default:
			return false
		}
	}
	return true
}
