package owner

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

// The tags of entries for users and groups (acl(5), include/uapi/linux/posix_acl.h).
const (
	aclVersion = 2
	aclUser    = 0x02
	aclGroup   = 0x08
	aclWrite   = 0x02
)

// listed returns the first untrusted user or group that the access control list of a file allows to
// write, and the entry in the form of setfacl; "" when there is none. The caller calls it only when
// the mask of the list allows writing.
func (w *Ways) listed(path string) (user, option string) {
	list := make([]byte, 64<<10) // the largest attribute
	n, err := unix.Lgetxattr(path, "system.posix_acl_access", list)
	if err != nil || n < 4 {
		return "", "" // the file has no list
	}
	return w.named(list[:n])
}

// named parses a list in the format of the kernel: a version, then entries of a tag, permissions
// and a number.
func (w *Ways) named(list []byte) (user, option string) {
	if binary.LittleEndian.Uint32(list) != aclVersion {
		return "another user", "-b" // an unreadable list
	}
	for list = list[4:]; len(list) >= 8; list = list[8:] {
		tag, rights := binary.LittleEndian.Uint16(list), binary.LittleEndian.Uint16(list[2:])
		id := binary.LittleEndian.Uint32(list[4:])
		switch {
		case rights&aclWrite == 0:
		case tag == aclUser && !w.trusted.TrustsUser(id):
			return UserName(id), fmt.Sprintf("-x u:%d", id)
		case tag == aclGroup && !w.ownGroup(id):
			return groupName(id), fmt.Sprintf("-x g:%d", id)
		}
	}
	return "", ""
}
