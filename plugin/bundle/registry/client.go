package registry

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// The media types of manifests.
const (
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeDocker   = "application/vnd.docker.distribution.manifest.v2+json"
	typeEmpty    = "application/vnd.oci.empty.v1+json"
)

const (
	maxManifest = 4 << 20
	maxTags     = 10000
	maxPages    = 100
)

// errNotFound is the error of a missing artifact.
var errNotFound = errors.New("the registry has no such artifact")

// client talks to a registry. It is not safe for concurrent use.
type client struct {
	HTTP *http.Client
	// Login returns the name and the password for a host, "" for none; may be nil.
	Login func(host string) (name, password string)

	authorization map[string]string // by host and repository
}

// artifact is the manifest of an artifact.
type artifact struct {
	Digest       string  `json:"-"` // "sha256:…"
	ArtifactType string  `json:"artifactType"`
	Layers       []layer `json:"layers"`
}

// layer describes a blob.
type layer struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Tags returns the tags of a repository.
func (c *client) Tags(ctx context.Context, r reference) ([]string, error) {
	var tags []string
	next := r.base() + "/tags/list?n=1000"
	for range maxPages {
		data, header, err := c.get(ctx, r, next, "application/json", maxManifest)
		if err != nil {
			return nil, err
		}
		var page struct {
			Tags []string `json:"tags"`
		}
		if err := json.Unmarshal(data, &page); err != nil {
			return nil, fmt.Errorf("the list of tags is no JSON: %w", err)
		}
		if tags = append(tags, page.Tags...); len(tags) > maxTags {
			return nil, fmt.Errorf("more than %d tags", maxTags)
		}
		link, ok := nextPage(header.Get("Link"))
		if !ok {
			return tags, nil
		}
		if next, err = beside(next, link); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("the list of tags has more than %d pages", maxPages)
}

// nextPage returns the address in the header Link: <ADDRESS>; rel="next".
func nextPage(link string) (string, bool) {
	address, rest, ok := strings.Cut(strings.TrimPrefix(link, "<"), ">")
	return address, ok && strings.HasPrefix(link, "<") && strings.Contains(rest, `rel="next"`)
}

// beside returns the address that a server on the same host names.
func beside(base, ref string) (string, error) {
	from, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	to, err := from.Parse(ref)
	if err != nil || to.Host != from.Host || to.Scheme != from.Scheme {
		return "", fmt.Errorf("the registry names the address %.200q, expected one on %s", ref, from.Host)
	}
	return to.String(), nil
}

// Manifest returns the manifest of an artifact.
func (c *client) Manifest(ctx context.Context, r reference) (*artifact, error) {
	data, _, err := c.get(ctx, r, r.base()+"/manifests/"+r.which(), typeManifest+", "+typeDocker, maxManifest)
	if err != nil {
		return nil, err
	}
	return parseManifest(data, r.Digest)
}

// parseManifest reads a manifest, which must have the digest want unless that is "".
func parseManifest(data []byte, want string) (*artifact, error) {
	m := &artifact{Digest: digestOf(data)}
	if want != "" && want != m.Digest {
		return nil, fmt.Errorf("the manifest has the digest %s, expected %s", m.Digest, want)
	}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("the manifest is no JSON: %w", err)
	}
	for _, l := range m.Layers {
		if !digestForm.MatchString(l.Digest) || l.Size < 0 {
			return nil, fmt.Errorf("the manifest has a layer with the digest %.100q and %d bytes, expected sha256 and a size", l.Digest, l.Size)
		}
	}
	return m, nil
}

func digestOf(data []byte) string { return "sha256:" + sum(data) }

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// blob returns the content of a layer, which has its size and digest, and at most limit bytes.
func (c *client) Blob(ctx context.Context, r reference, l layer, limit int64) ([]byte, error) {
	if l.Size > limit {
		return nil, fmt.Errorf("the layer has %d bytes, expected at most %d", l.Size, limit)
	}
	data, _, err := c.get(ctx, r, r.base()+"/blobs/"+l.Digest, "*/*", l.Size)
	switch {
	case err != nil:
		return nil, err
	case int64(len(data)) != l.Size:
		return nil, fmt.Errorf("the layer has %d bytes, expected %d as the manifest states", len(data), l.Size)
	case digestOf(data) != l.Digest:
		return nil, fmt.Errorf("the layer has the digest %s, expected %s as the manifest states", digestOf(data), l.Digest)
	}
	return data, nil
}

func (c *client) get(ctx context.Context, r reference, address, accept string, limit int64) ([]byte, http.Header, error) {
	res, err := c.do(ctx, r, request{method: http.MethodGet, address: address, header: map[string]string{"Accept": accept}, scope: "pull"})
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return nil, nil, errNotFound
	default:
		return nil, nil, answered(res)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	return data, res.Header, err
}

// answered returns the error of an answer that is no success, with the registry's message.
func answered(res *http.Response) error {
	var body struct {
		Errors []struct{ Code, Message string }
	}
	data, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if json.Unmarshal(data, &body) == nil && len(body.Errors) > 0 {
		return fmt.Errorf("the registry answered %s: %.200q", res.Status, body.Errors[0].Code+" "+body.Errors[0].Message)
	}
	return fmt.Errorf("the registry answered %s", res.Status)
}

// request is one HTTP request to the registry of a reference.
type request struct {
	method, address string
	header          map[string]string
	body            []byte
	scope           string // "pull" or "pull,push"
}

// do sends a request, and sends it again with a token if the registry asks for one.
func (c *client) do(ctx context.Context, r reference, q request) (*http.Response, error) {
	key := r.Host + "/" + r.Repo + " " + q.scope
	res, err := c.send(ctx, q, c.authorization[key])
	if err != nil || res.StatusCode != http.StatusUnauthorized {
		return res, err
	}
	challenge := res.Header.Get("WWW-Authenticate")
	res.Body.Close()
	authorization, err := c.authorize(ctx, r, challenge, q.scope)
	if err != nil {
		return nil, err
	}
	if c.authorization == nil {
		c.authorization = make(map[string]string)
	}
	c.authorization[key] = authorization
	return c.send(ctx, q, authorization)
}

func (c *client) send(ctx context.Context, q request, authorization string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, q.method, q.address, bytes.NewReader(q.body))
	if err != nil {
		return nil, err
	}
	for name, value := range q.header {
		req.Header.Set(name, value)
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	res, err := c.HTTP.Do(req)
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err // without the URL, which may have a password
	}
	return res, err
}
