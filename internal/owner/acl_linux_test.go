package owner

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

type entry struct {
	tag, rights uint16
	id          uint32
}

// list writes an access control list as the kernel takes it.
func list(entries ...entry) []byte {
	out := binary.LittleEndian.AppendUint32(nil, aclVersion)
	for _, e := range entries {
		out = binary.LittleEndian.AppendUint16(out, e.tag)
		out = binary.LittleEndian.AppendUint16(out, e.rights)
		out = binary.LittleEndian.AppendUint32(out, e.id)
	}
	return out
}

// A list shows in the mode only as the rights of the group, which is the user's own.
func TestAccessControlLists(t *testing.T) {
	const nobody = 1<<32 - 1
	basic := func(more ...entry) []byte {
		head := []entry{{0x01, 7, nobody}}
		return list(append(append(head, more...), entry{0x20, 5, nobody})...)
	}
	for name, c := range map[string]struct {
		list []byte
		want string
	}{
		"a user may write":          {basic(entry{aclUser, 7, 4711}, entry{0x04, 5, nobody}, entry{0x10, 7, nobody}), "user 4711 may write to"},
		"a group may write":         {basic(entry{0x04, 5, nobody}, entry{aclGroup, 7, 4712}, entry{0x10, 7, nobody}), "group 4712 may write to"},
		"a user may read":           {basic(entry{aclUser, 5, 4711}, entry{0x04, 7, nobody}, entry{0x10, 7, nobody}), ""},
		"the mask forbids writing":  {basic(entry{aclUser, 7, 4711}, entry{0x04, 7, nobody}, entry{0x10, 5, nobody}), ""},
		"root is named, he may all": {basic(entry{aclUser, 7, 0}, entry{0x04, 7, nobody}, entry{0x10, 7, nobody}), ""},
	} {
		root := tree(t, "bin/tool.sh")
		dir := filepath.Join(root, "bin")
		if err := unix.Setxattr(dir, "system.posix_acl_access", c.list, 0); errors.Is(err, unix.ENOTSUP) {
			t.Skip("the file system of the test has no access control lists")
		} else if err != nil {
			t.Fatal(err)
		}
		got, err := Of(root).Ways().To(filepath.Join(dir, "tool.sh"))
		if err != nil || (got == nil) != (c.want == "") || got != nil && (!strings.Contains(got.Why, c.want) || !strings.HasPrefix(got.Fix, "setfacl -x ")) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
