package owner

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

// The tags of entries that name somebody (acl(5), include/uapi/linux/posix_acl.h).
const (
	aclVersion = 2
	aclUser    = 0x02
	aclGroup   = 0x08
	aclWrite   = 0x02
)

// listed returns who is named by the access control list of a file, may write to it and
// is not trusted, with the entry as setfacl takes it; "" for nobody. It is asked where
// the mask of the list allows writing.
func (w *Ways) listed(path string) (who, option string) {
	list := make([]byte, 64<<10) // no attribute is larger
	n, err := unix.Lgetxattr(path, "system.posix_acl_access", list)
	if err != nil || n < 4 {
		return "", "" // it has none
	}
	return w.named(list[:n])
}

// named reads a list as the kernel stores it: a version, then entries of a tag, rights
// and a number.
func (w *Ways) named(list []byte) (who, option string) {
	if binary.LittleEndian.Uint32(list) != aclVersion {
		return "somebody", "-b" // a list that cannot be read
	}
	for list = list[4:]; len(list) >= 8; list = list[8:] {
		tag, rights := binary.LittleEndian.Uint16(list), binary.LittleEndian.Uint16(list[2:])
		id := binary.LittleEndian.Uint32(list[4:])
		switch {
		case rights&aclWrite == 0:
		case tag == aclUser && !w.trusted.TrustsUser(id):
			return userName(id), fmt.Sprintf("-x u:%d", id)
		case tag == aclGroup && !ownGroup(id):
			return groupName(id), fmt.Sprintf("-x g:%d", id)
		}
	}
	return "", ""
}
