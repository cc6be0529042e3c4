//go:build unix

package owner

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTrusted(t *testing.T) {
	root := t.TempDir()
	mine := filepath.Join(root, "mine")
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(mine)
	if err != nil {
		t.Fatal(err)
	}
	var alone Trusted
	if !alone.Trusts(fi) || !alone.TrustsUser(0) || !alone.TrustsUser(uint32(os.Geteuid())) {
		t.Error("the user's own files and root's are not trusted")
	}
	const other = 4711
	if alone.TrustsUser(other) || Of(root).TrustsUser(other) {
		t.Error("a stranger is trusted")
	}
	if Of(filepath.Join(root, "missing")).TrustsUser(other) {
		t.Error("a root that is not there vouches for a stranger")
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root: the owner of a workspace is changed")
	}
	if err := os.Chown(root, other, other); err != nil {
		t.Fatal(err)
	}
	if !Of(root).TrustsUser(other) || Of(root).TrustsUser(other+1) {
		t.Error("of strangers, the owner of the workspace alone is trusted")
	}
	if err := os.Chown(mine, other, other); err != nil {
		t.Fatal(err)
	}
	if fi, err = os.Stat(mine); err != nil {
		t.Fatal(err)
	}
	if alone.Trusts(fi) || !Of(root).Trusts(fi) {
		t.Error("the owner of a file is read wrongly")
	}
}
