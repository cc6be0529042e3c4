package registry

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/bundle"
	"github.com/bentobuild/bento/plugin/bundle/archive"
	"github.com/bentobuild/bento/plugin/bundle/manifest"
	"github.com/bentobuild/bento/plugin/bundle/seal"
)

// The media types of a published plugin.
const (
	typePlugin    = "application/vnd.bento.plugin.v1"
	typePackage   = "application/vnd.bento.plugin.package.v1.tar"
	typeSignature = "application/vnd.bento.plugin.signature.v1" // with the suffix of the file behind it
	typeSimple    = "application/vnd.dev.cosign.simplesigning.v1+json"
	cosignNote    = "dev.cosignproject.cosign/signature"
)

// maxSignatures is the largest number of signatures of one artifact that bento reads.
const maxSignatures = 20

// client returns a client whose requests end with the context that comes with it.
func (f *Fetcher) registry(ctx context.Context) (*client, context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeoutCause(ctx, downloadTime, fmt.Errorf("timed out after %v", downloadTime))
	return &client{HTTP: &http.Client{Transport: f.Transport, CheckRedirect: checkRedirect}, Login: f.login}, ctx, cancel
}

// fromRegistry reads the package of an adapter from a registry. Without a tag and a digest it chooses the
// best tag.
func (f *Fetcher) fromRegistry(ctx context.Context, text, id string, want manifest.Requirement) (*bundle.Package, error) {
	source := "oci://" + text
	ref, err := parseReference(text)
	if err != nil {
		return nil, fetchError(source, err)
	}
	c, ctx, cancel := f.registry(ctx)
	defer cancel()
	if ref.Tag == "" && ref.Digest == "" {
		tags, err := c.Tags(ctx, ref)
		if err == nil {
			if ref.Tag = want.Choose(tags); ref.Tag == "" {
				err = noVersion(id, want, tags)
			}
		}
		if err != nil {
			return nil, fetchError(source, err)
		}
	}
	data, signatures, err := pull(ctx, c, ref)
	if err != nil {
		return nil, fetchError("oci://"+ref.String(), err)
	}
	return unpacked("oci://"+ref.String(), data, signatures)
}

// pull reads the archive of an artifact, and its signatures.
func pull(ctx context.Context, c *client, ref reference) (data []byte, signatures []seal.Signature, err error) {
	m, err := c.Manifest(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	for _, l := range m.Layers {
		suffix, isSignature := strings.CutPrefix(l.MediaType, typeSignature)
		switch {
		case l.MediaType == typePackage && data != nil:
			return nil, nil, fmt.Errorf("the artifact has two layers of the type %s", typePackage)
		case l.MediaType == typePackage:
			data, err = c.Blob(ctx, ref, l, archive.MaxSize)
		case isSignature && len(signatures) < maxSignatures:
			var text []byte
			text, err = c.Blob(ctx, ref, l, seal.MaxSize)
			signatures = append(signatures, seal.Signature{Suffix: suffix, Data: text})
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if data == nil {
		return nil, nil, fmt.Errorf("the artifact has no layer of the type %s, as bento plugin publish writes it", typePackage)
	}
	more, err := cosigned(ctx, c, ref, m.Digest)
	return data, append(signatures, more...), err
}

// cosigned returns the signatures that cosign sign has stored beside an artifact.
func cosigned(ctx context.Context, c *client, ref reference, digest string) (list []seal.Signature, err error) {
	ref.Digest, ref.Tag = "", strings.Replace(digest, ":", "-", 1)+seal.Cosign
	m, err := c.Manifest(ctx, ref)
	if errors.Is(err, errNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, l := range m.Layers {
		if l.MediaType != typeSimple || len(list) == maxSignatures {
			continue
		}
		payload, err := c.Blob(ctx, ref, l, seal.MaxSize)
		if err != nil {
			return nil, err
		}
		var doc struct {
			Critical struct {
				Image struct {
					Digest string `json:"docker-manifest-digest"`
				} `json:"image"`
			} `json:"critical"`
		}
		if json.Unmarshal(payload, &doc) == nil && doc.Critical.Image.Digest == digest {
			list = append(list, seal.Signature{Suffix: seal.Cosign, Data: []byte(l.Annotations[cosignNote]), Payload: payload})
		}
	}
	return list, nil
}

// Publish writes a packed adapter with its signatures to a repository of a registry, with the version
// and the platform as its tag. It returns the reference with the digest.
func (f *Fetcher) Publish(ctx context.Context, to string, p *bundle.Package) (string, error) {
	ref, err := parseReference(to)
	if err != nil {
		return "", diagnostics.Refuse(RuleFetch, "", "%v", err)
	}
	if ref.Tag != "" || ref.Digest != "" {
		return "", diagnostics.Refuse(RuleFetch, "leave it out", "oci://%s: the tag is the version, %s", to, p.Adapter.Tag())
	}
	if ref.Tag = strings.ReplaceAll(p.Adapter.Tag(), "+", "_"); ref.Tag != p.Adapter.Tag() {
		return "", diagnostics.Refuse(RuleFetch, "leave out the build metadata", "the version %s cannot be a tag", p.Version)
	}
	blobs := []blob{{MediaType: typePackage, Data: p.Packed, Title: p.Adapter.PackageName() + ".tar"}}
	for _, s := range p.Signatures {
		blobs = append(blobs, blob{MediaType: typeSignature + s.Suffix, Data: s.Data, Title: p.Adapter.PackageName() + ".tar" + s.Suffix})
	}
	c, ctx, cancel := f.registry(ctx)
	defer cancel()
	if err := unpublished(ctx, c, ref, p.Packed); err != nil {
		return "", err
	}
	digest, err := c.Push(ctx, ref, typePlugin, blobs)
	if err != nil {
		return "", fetchError("oci://"+ref.String(), err)
	}
	ref.Digest = digest
	return "oci://" + ref.String(), nil
}

// unpublished refuses to replace another package with the same version.
func unpublished(ctx context.Context, c *client, ref reference, data []byte) error {
	m, err := c.Manifest(ctx, ref)
	if errors.Is(err, errNotFound) {
		return nil
	}
	if err != nil {
		return fetchError("oci://"+ref.String(), err)
	}
	for _, l := range m.Layers {
		if l.MediaType == typePackage && l.Digest != digestOf(data) {
			return diagnostics.Refuse(bundle.RuleConflict, "raise the version", "oci://%s is published with the digest %s, found %s", ref, l.Digest, digestOf(data))
		}
	}
	return nil
}

// maxLogins is the largest size of the file that docker login writes, in bytes.
const maxLogins = 1 << 20

// login returns the login that docker login has stored for a registry.
func (f *Fetcher) login(host string) (name, password string) {
	dir := f.lookup("DOCKER_CONFIG")
	if dir == "" {
		dir = filepath.Join(f.lookup("HOME"), ".docker")
	}
	if !filepath.IsAbs(dir) {
		return "", ""
	}
	data, err := readPath(filepath.Join(dir, "config.json"), maxLogins)
	var doc struct {
		Auths map[string]struct {
			Auth string `json:"auth"`
		} `json:"auths"`
	}
	if err != nil || json.Unmarshal(data, &doc) != nil {
		return "", "" // the registry then reports that it requires a login
	}
	auth, err := base64.StdEncoding.DecodeString(doc.Auths[host].Auth)
	if err != nil {
		return "", ""
	}
	name, password, _ = strings.Cut(string(auth), ":")
	return name, password
}
