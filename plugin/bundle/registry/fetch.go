package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/bundle"
	"github.com/bentobuild/bento/plugin/bundle/archive"
	"github.com/bentobuild/bento/plugin/bundle/manifest"
)

// The deadlines of a download and of a clone.
const (
	downloadTime = 5 * time.Minute
	cloneTime    = 5 * time.Minute
)

// RuleFetch is the rule of diagnostics about a source that cannot be read.
const RuleFetch = "package_source"

// Fetcher reads packages from the sources that the user names.
type Fetcher struct {
	Environ   []string          // of the user, for git
	Root      string            // of the workspace; bento does not start programs in it; "" for none
	Transport http.RoundTripper // nil: the one of net/http

	cloneLimit int64 // bytes on disk while git clones; 0: maxClone
}

// Package reads the package of a source: a directory, an archive (a path, or a URL with file, http or https), or a
// git repository (git+https://..., git+ssh://..., git+file://...). "#NAME" after a repository selects a branch or
// tag.
func (f *Fetcher) Package(ctx context.Context, source string) (*bundle.Package, error) {
	var files []archive.File
	var err error
	if repo, ok := strings.CutPrefix(source, "git+"); ok {
		files, err = f.clone(ctx, repo)
	} else if fi, e := os.Stat(source); e == nil && fi.IsDir() {
		files, err = archive.ReadDir(source, archive.Limits{})
	} else {
		var data []byte
		if data, err = f.Bytes(ctx, source, archive.MaxSize); err == nil {
			files, err = archive.Read(data, archive.Limits{})
		}
	}
	return loaded(source, files, err)
}

func loaded(source string, files []archive.File, err error) (*bundle.Package, error) {
	shown := Redacted(source)
	if err != nil {
		return nil, fetchError(shown, err)
	}
	p, err := bundle.Load(files)
	if err != nil {
		return nil, bundle.From(shown, err)
	}
	return p, nil
}

// fetchError keeps an error of the machine or an interruption, and makes a diagnostic of any other.
func fetchError(source string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return diagnostics.Refuse(RuleFetch, "", "%s: %v", source, err)
}

// Release reads the package of a release in the index at a path or URL, and checks the size and the
// digest of the archive.
func (f *Fetcher) Release(ctx context.Context, index string, r manifest.Release) (*bundle.Package, error) {
	source, err := address(index, r.URL)
	if err != nil {
		return nil, fetchError(Redacted(index), err)
	}
	data, err := f.Bytes(ctx, source, archive.MaxSize)
	switch {
	case err != nil:
		return nil, fetchError(Redacted(source), err)
	case r.Size != 0 && int64(len(data)) != r.Size:
		return nil, diagnostics.Refuse(bundle.RuleDigest, "", "%s: %d bytes, expected %d as the index states", Redacted(source), len(data), r.Size)
	case sum(data) != r.SHA256:
		return nil, diagnostics.Refuse(bundle.RuleDigest, "", "%s: its sha256 is %s, expected %s as the index states", Redacted(source), sum(data), r.SHA256)
	}
	files, err := archive.Read(data, archive.Limits{})
	p, err := loaded(source, files, err)
	if err == nil && (p.ID != r.ID || p.Version != r.Version) {
		err = diagnostics.Refuse(bundle.RuleConflict, "", "%s: it is %s %s, expected %s %s as the index states", Redacted(source), p.ID, p.Version, r.ID, r.Version)
	}
	return p, err
}

// address returns the place of an archive that an index names. An index from the network names
// nothing on this machine.
func address(index, ref string) (string, error) {
	u, err := url.Parse(ref)
	if err != nil {
		return "", err
	}
	web := u.Scheme == "http" || u.Scheme == "https"
	if base, err := url.Parse(index); err == nil && (base.Scheme == "http" || base.Scheme == "https") {
		u = base.ResolveReference(u)
		if u.Scheme != "https" && u.Scheme != base.Scheme {
			return "", fmt.Errorf("download_url %.200q: expected one with https", ref)
		}
		return u.String(), nil
	}
	if web || u.Scheme == "file" {
		return ref, nil
	}
	if u.Scheme != "" || filepath.IsAbs(ref) || !filepath.IsLocal(ref) {
		return "", fmt.Errorf("download_url %.200q: expected a URL with http, https or file, or a path beside the index", ref)
	}
	return filepath.Join(filepath.Dir(strings.TrimPrefix(index, "file://")), ref), nil
}

// Bytes reads a file from a path, or from a URL with file, http or https.
func (f *Fetcher) Bytes(ctx context.Context, source string, limit int64) ([]byte, error) {
	u, err := url.Parse(source)
	if err != nil || u.Scheme == "" || !strings.Contains(source, "://") {
		return readPath(source, limit)
	}
	switch u.Scheme {
	case "http", "https":
		return f.download(ctx, u, limit)
	case "file":
		if u.Host != "" && u.Host != "localhost" {
			return nil, fmt.Errorf("the URL names the host %q, expected file:///path", u.Host)
		}
		return readPath(u.Path, limit)
	}
	return nil, fmt.Errorf("the scheme %q is not supported, expected file, http, https or git+https", u.Scheme)
}

func readPath(path string, limit int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if fi, err := file.Stat(); err != nil || !fi.Mode().IsRegular() {
		return nil, cmp.Or(err, fmt.Errorf("%q is no regular file", path))
	}
	return readAll(file, limit)
}

func readAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	return data, err
}

func (f *Fetcher) download(ctx context.Context, u *url.URL, limit int64) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, downloadTime, fmt.Errorf("timed out after %v", downloadTime))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: f.Transport, CheckRedirect: checkRedirect}
	res, err := client.Do(req)
	if err != nil {
		var of *url.Error
		if errors.As(err, &of) {
			err = of.Err // without the URL, which may have a password
		}
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, &statusError{res.StatusCode, res.Status}
	}
	if res.ContentLength > limit {
		return nil, fmt.Errorf("%d bytes, expected at most %d", res.ContentLength, limit)
	}
	return readAll(res.Body, limit)
}

// checkRedirect follows at most 5 redirects, and none from https to another scheme.
func checkRedirect(req *http.Request, via []*http.Request) error {
	from, to := via[len(via)-1].URL.Scheme, req.URL.Scheme
	switch {
	case len(via) > 5:
		return fmt.Errorf("more than 5 redirects")
	case to != "https" && to != from || to != "https" && to != "http":
		return fmt.Errorf("the server redirects from %s to %s", from, to)
	}
	return nil
}

// Redacted returns a source without the password of a URL.
func Redacted(source string) string {
	if u, err := url.Parse(source); err == nil && u.User != nil {
		return u.Redacted()
	}
	return source
}

func (f *Fetcher) lookup(name string) string {
	value := ""
	for _, kv := range f.Environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}
