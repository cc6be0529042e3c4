package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
)

// blob is the content of a layer to push.
type blob struct {
	MediaType string
	Data      []byte
	Title     string // a file name, for people
}

// Push writes an artifact with a tag and returns the digest of its manifest. The same blobs make the
// same digest.
func (c *client) Push(ctx context.Context, r reference, artifactType string, blobs []blob) (string, error) {
	empty := blob{MediaType: typeEmpty, Data: []byte("{}")}
	config, err := c.upload(ctx, r, empty)
	if err != nil {
		return "", err
	}
	layers := make([]layer, len(blobs))
	for i, b := range blobs {
		if layers[i], err = c.upload(ctx, r, b); err != nil {
			return "", err
		}
	}
	data, err := json.Marshal(struct {
		SchemaVersion int     `json:"schemaVersion"`
		MediaType     string  `json:"mediaType"`
		ArtifactType  string  `json:"artifactType"`
		Config        layer   `json:"config"`
		Layers        []layer `json:"layers"`
	}{2, typeManifest, artifactType, config, layers})
	if err != nil {
		return "", err
	}
	err = c.put(ctx, r, http.MethodPut, r.base()+"/manifests/"+r.Tag, typeManifest, data)
	return digestOf(data), err
}

// upload writes a blob unless the registry has it.
func (c *client) upload(ctx context.Context, r reference, b blob) (layer, error) {
	l := layer{MediaType: b.MediaType, Digest: digestOf(b.Data), Size: int64(len(b.Data))}
	if b.Title != "" {
		l.Annotations = map[string]string{"org.opencontainers.image.title": b.Title}
	}
	res, err := c.do(ctx, r, request{method: http.MethodHead, address: r.base() + "/blobs/" + l.Digest, scope: "pull,push"})
	if err != nil {
		return l, err
	}
	res.Body.Close()
	if res.StatusCode == http.StatusOK {
		return l, nil
	}
	start := r.base() + "/blobs/uploads/"
	res, err = c.do(ctx, r, request{method: http.MethodPost, address: start, scope: "pull,push"})
	if err != nil {
		return l, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		return l, answered(res)
	}
	to, err := beside(start, res.Header.Get("Location"))
	if err != nil {
		return l, err
	}
	u, err := url.Parse(to)
	if err != nil {
		return l, err
	}
	query := u.Query()
	query.Set("digest", l.Digest)
	u.RawQuery = query.Encode()
	return l, c.put(ctx, r, http.MethodPut, u.String(), "application/octet-stream", b.Data)
}

func (c *client) put(ctx context.Context, r reference, method, address, mediaType string, body []byte) error {
	res, err := c.do(ctx, r, request{method: method, address: address, header: map[string]string{"Content-Type": mediaType}, body: body, scope: "pull,push"})
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusCreated {
		return fmt.Errorf("the upload: %w", answered(res))
	}
	return nil
}
