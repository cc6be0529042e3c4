// Package owner decides whose files bento trusts: the user's own, root's, and those of the owner of
// the workspace's root directory. The last one matters in a container where root works on a mounted
// clone of another user.
package owner

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strconv"
)

// Trusted is a set of users. The zero value contains the user and root.
type Trusted struct {
	also []uint32
}

// Of returns the users trusted in the workspace at root: the user, root and the owner of that
// directory. An unreadable root adds none.
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

// Guest returns a *GuestError when the user is neither root nor the owner of the directory passed
// to Of, and nil otherwise. The owner would not trust files that such a user makes there.
func (t Trusted) Guest() error {
	user := os.Geteuid()
	if user == 0 || len(t.also) == 0 || int(t.also[0]) == user {
		return nil
	}
	return &GuestError{User: uint32(user), Owner: t.also[0]}
}

// GuestError is the reason why bento saves nothing: the workspace belongs to another user. It is
// fs.ErrPermission.
type GuestError struct {
	User  uint32 // the user of this process
	Owner uint32 // of the workspace's root directory
}

func (e *GuestError) Error() string {
	return fmt.Sprintf("bento saves nothing for %s in a workspace of %s", UserName(e.User), UserName(e.Owner))
}

// Hint returns what to do next.
func (e *GuestError) Hint() string {
	return fmt.Sprintf("run bento as %s, or in your own copy of the workspace", UserName(e.Owner))
}

// Is reports whether target is fs.ErrPermission.
func (e *GuestError) Is(target error) bool { return target == fs.ErrPermission }

// Trusts reports whether a trusted user owns the file that fi describes. It returns true where
// files have no owner.
func (t Trusted) Trusts(fi fs.FileInfo) bool {
	uid, ok := uidOf(fi)
	return !ok || t.TrustsUser(uid)
}

// IsMine reports whether the user owns the file that fi describes. It returns true where files have
// no owner.
func IsMine(fi fs.FileInfo) bool {
	uid, ok := uidOf(fi)
	return !ok || int(uid) == os.Geteuid()
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
	return UserName(uid)
}

// UserName returns the name of a user for a message, such as "user alice (1000)".
func UserName(uid uint32) string {
	if u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10)); err == nil {
		return fmt.Sprintf("user %s (%d)", u.Username, uid)
	}
	return fmt.Sprintf("user %d", uid)
}
