package owner

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// accountsOf writes files of a system, by their paths below it.
func accountsOf(t *testing.T, files map[string]string) (etc, run string) {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(root, "etc"), filepath.Join(root, "run")
}

// A group is trusted if all its members are certainly trusted users.
func TestGroupsWithoutStrangers(t *testing.T) {
	if runtime.GOOS == "darwin" || !hasOwners {
		t.Skip("files do not list the users of this system")
	}
	me := strconv.Itoa(os.Geteuid())
	passwd := "root:x:0:0:root:/root:/bin/sh\nme:x:" + me + ":4001:::\nowner:x:4711:4002:::\nmallory:x:4712:4003:::\n# a comment\n\n"
	const staff = "staff:x:50:"
	for name, c := range map[string]struct {
		group  string
		passwd string // lines that are added at the end
		more   map[string]string
		want   bool
	}{
		"nobody":                    {group: staff, want: true},
		"among other groups":        {group: "a:x:1:mallory\n" + staff + "\nb:x:501:mallory\n", want: true},
		"root, user and owner":      {group: staff + "root,me,owner", want: true},
		"a stranger":                {group: staff + "me,mallory"},
		"somebody unknown":          {group: staff + "ghost"},
		"a stranger's primary":      {group: staff, passwd: "eve:x:4713:50:::\n"},
		"the owner's primary":       {group: staff, passwd: "eve:x:4711:50:::\n", want: true},
		"a name of two users":       {group: staff + "me", passwd: "me:x:4712:1:::\n"},
		"a second name":             {group: staff + "\nother:x:50:mallory\n"},
		"not listed":                {group: "a:x:1:\n"},
		"a password":                {group: "staff:$6$abc:50:"},
		"no list":                   {},
		"a list of others":          {group: staff + "\n+\n"},
		"users of others":           {group: staff, passwd: "+::::::\n"},
		"a broken line":             {group: staff + "\nbroken\n"},
		"a number with zeros":       {group: staff, passwd: "eve:x:4713:050:::\n"},
		"too large":                 {group: staff + "\n" + strings.Repeat("#\n", maxAccounts/2)},
		"files only":                {group: staff, more: map[string]string{"etc/nsswitch.conf": "# x\npasswd: files\ngroup:\tcompat [NOTFOUND=return] files # ldap\nhosts: dns\n"}, want: true},
		"a directory service":       {group: staff, more: map[string]string{"etc/nsswitch.conf": "passwd: files\ngroup: files sss\n"}},
		"users of one":              {group: staff, more: map[string]string{"etc/nsswitch.conf": "passwd: files ldap\ngroup: files\n"}},
		"groups of users of one":    {group: staff, more: map[string]string{"etc/nsswitch.conf": "initgroups: files[success=continue]ldap\n"}},
		"systemd":                   {group: staff, more: map[string]string{"etc/nsswitch.conf": "passwd: files systemd\ngroup: files [SUCCESS=merge] systemd\n", "run/systemd/userdb/io.systemd.DynamicUser": ""}, want: true},
		"systemd's homes":           {group: staff, more: map[string]string{"etc/nsswitch.conf": "group: files systemd\n", "run/systemd/userdb/io.systemd.Home": ""}},
		"users dropped for systemd": {group: staff, more: map[string]string{"etc/nsswitch.conf": "group: files systemd\n", "etc/userdb/eve:staff.membership": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"etc/passwd": passwd + c.passwd}
			if c.group != "" {
				files["etc/group"] = c.group
			}
			for path, text := range c.more {
				files[path] = text
			}
			etc, run := accountsOf(t, files)
			if got := (Trusted{also: []uint32{4711}}).harmless(etc, run, 50); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
