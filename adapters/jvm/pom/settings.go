package pom

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// Steers returns the digest of the parts of a settings.xml that change a build: the
// profiles and which of them are active. It is "" when there are none, and that of the
// whole file when it cannot be read.
func Steers(data []byte) string {
	h := sha256.New()
	root, err := document("settings.xml", data)
	if err != nil {
		h.Write(data)
		return hex.EncodeToString(h.Sum(nil)[:16])
	}
	found := false
	for _, name := range []string{"profiles", "activeProfiles", "pluginGroups"} {
		if n := root.child(name); n != nil && (len(n.kids) > 0 || n.text != "") {
			found = true
			write(h, n)
		}
	}
	if !found {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func write(w io.Writer, n *node) {
	fmt.Fprintf(w, "%q %q %d\n", n.name, n.text, len(n.kids))
	for _, k := range n.kids {
		write(w, k)
	}
}
