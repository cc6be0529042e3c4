package sep

import (
	"fmt"
	"strconv"
	"strings"
)

// APIVersion is the version of the protocol that this host speaks.
const APIVersion = "1.0.0"

// version is a version of the protocol.
type version [3]uint64

// parseVersion reads three numbers with dots; other texts are not ok.
func parseVersion(text string) (v version, ok bool) {
	parts := strings.Split(text, ".")
	if len(parts) != len(v) {
		return v, false
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 64)
		if err != nil || part[0] == '+' {
			return version{}, false
		}
		v[i] = n
	}
	return v, true
}

// atMost reports whether v is not above w.
func (v version) atMost(w version) bool {
	for i := range v {
		if v[i] != w[i] {
			return v[i] < w[i]
		}
	}
	return true
}

// CheckVersion checks the version that an extension has chosen. The argument declared is the version of
// its manifest, host that of the host.
func CheckVersion(text, declared, host string) error {
	_, err := chosen(text, declared, host)
	return err
}

// chosen checks the version that an extension has chosen. The argument declared is the version of its
// manifest.
func chosen(text, declared, host string) (version, error) {
	v, ok := parseVersion(text)
	own, _ := parseVersion(host)
	most, known := parseVersion(declared)
	switch {
	case !ok:
		return v, fmt.Errorf("apiVersion is %.40q, required three numbers with dots", text)
	case v[0] != own[0]:
		return v, fmt.Errorf("apiVersion is %s, required a version %d of the host (%s)", text, own[0], host)
	case !v.atMost(own):
		return v, fmt.Errorf("apiVersion is %s, which is above %s of the host", text, host)
	case !known || !v.atMost(most):
		return v, fmt.Errorf("apiVersion is %s, which is above %.40s of the manifest", text, declared)
	}
	return v, nil
}
