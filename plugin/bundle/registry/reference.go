// Package registry fetches packages of tools and plugins from paths, URLs, git repositories and OCI registries, and
// publishes them.
package registry

import (
	"fmt"
	"net"
	"strings"

	"github.com/bentobuild/bento/internal/pattern"
)

// reference names an artifact in a registry. With neither Tag nor Digest it names the repository.
type reference struct {
	Host   string // with the port, if it has one
	Repo   string
	Tag    string
	Digest string // "sha256:…"
}

var (
	hostForm   = pattern.New(`^([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:.]+\])(:[0-9]{1,5})?$`)
	repoForm   = pattern.New(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)
	tagForm    = pattern.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	digestForm = pattern.New(`^sha256:[0-9a-f]{64}$`)
)

// parseReference reads HOST[:PORT]/NAME[:TAG][@DIGEST]. The host is never left out.
func parseReference(text string) (reference, error) {
	bad := func(what string) (reference, error) {
		return reference{}, fmt.Errorf("%.200q is no reference, %s: expected HOST/NAME, HOST/NAME:TAG or HOST/NAME@sha256:DIGEST", text, what)
	}
	name, digest, pinned := strings.Cut(text, "@")
	host, repo, ok := strings.Cut(name, "/")
	repo, tag, tagged := strings.Cut(repo, ":")
	switch {
	case !ok || !hostForm.MatchString(host):
		return bad("its host is not valid")
	case len(repo) > 255 || !repoForm.MatchString(repo):
		return bad("its name is not valid")
	case tagged && !tagForm.MatchString(tag):
		return bad("its tag is not valid")
	case pinned && !digestForm.MatchString(digest):
		return bad("its digest is not valid")
	}
	return reference{Host: host, Repo: repo, Tag: tag, Digest: digest}, nil
}

// String returns the text of a reference.
func (r reference) String() string {
	text := r.Host + "/" + r.Repo
	if r.Tag != "" {
		text += ":" + r.Tag
	}
	if r.Digest != "" {
		text += "@" + r.Digest
	}
	return text
}

// which returns the digest or the tag.
func (r reference) which() string {
	if r.Digest != "" {
		return r.Digest
	}
	return r.Tag
}

// base returns the address of the repository: with http for this machine, else with https.
func (r reference) base() string {
	scheme := "https"
	if isLoopback(r.Host) {
		scheme = "http"
	}
	return scheme + "://" + r.Host + "/v2/" + r.Repo
}

// isLoopback reports whether a host, with or without a port, is this machine.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
