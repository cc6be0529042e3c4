// Package owner decides whose files bento acts on: the user's own, root's, and those
// of the owner of the workspace's root directory. The last matters in a container in
// which root works on a mounted clone of somebody else.
package owner

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strconv"
)

// Trusted is a set of users. The zero value trusts the user and root alone.
type Trusted struct {
	also []uint32
}

// Of returns the users who are trusted in the workspace at root: the user, root and
// the owner of that directory. A root that cannot be looked at adds nobody.
func Of(root string) Trusted {
	fi, err := os.Stat(root)
	if err != nil {
		return Trusted{}
	}
	if uid, ok := uidOf(fi); ok {
		return Trusted{also: []uint32{uid}}
	}
	return Trusted{}
}

// Trusts reports whether the file that fi describes belongs to a trusted user. Where
// files have no owner, every file does.
func (t Trusted) Trusts(fi fs.FileInfo) bool {
	uid, ok := uidOf(fi)
	return !ok || t.TrustsUser(uid)
}

// TrustsUser reports whether the user with that number is trusted.
func (t Trusted) TrustsUser(uid uint32) bool {
	return uid == 0 || int(uid) == os.Geteuid() || slices.Contains(t.also, uid)
}

// Name returns the owner of a file for a message, such as "user alice (1000)".
func Name(fi fs.FileInfo) string {
	uid, ok := uidOf(fi)
	if !ok {
		return "an unknown user"
	}
	return userName(uid)
}

// userName returns a user for a message.
func userName(uid uint32) string {
	if u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10)); err == nil {
		return fmt.Sprintf("user %s (%d)", u.Username, uid)
	}
	return fmt.Sprintf("user %d", uid)
}
