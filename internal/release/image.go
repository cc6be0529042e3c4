package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"
)

// blob is a blob of an image, by its digest.
type blob struct {
	MediaType string       `json:"mediaType"`
	Digest    string       `json:"digest"`
	Size      int          `json:"size"`
	Platform  *ociPlatform `json:"platform,omitempty"`
	Notes     any          `json:"annotations,omitempty"`
}

// imageName is the name of the image, without its tag.
const imageName = "ghcr.io/bentobuild/bento"

type ociPlatform struct {
	OS   string `json:"os"`
	Arch string `json:"architecture"`
}

// image writes an image with nothing but the program, for the architectures of Linux, as an archive of an OCI
// layout (image-spec 1.0): skopeo, podman and buildah read it, and another image takes the program by COPY --from.
func (r *release) image(context.Context) error {
	layout := &ociLayout{date: r.date}
	var images []blob
	for _, b := range r.builds {
		if b.os != "linux" {
			continue
		}
		image, err := layout.add(b)
		if err != nil {
			return err
		}
		images = append(images, image)
	}
	if len(images) == 0 {
		return nil
	}
	index, err := layout.addJSON("application/vnd.oci.image.index.v1+json", map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": images,
	})
	if err != nil {
		return err
	}
	index.Notes = map[string]string{"org.opencontainers.image.ref.name": imageName + ":" + r.version} // podman load takes the name from it
	top, err := json.Marshal(map[string]any{"schemaVersion": 2, "manifests": []blob{index}})
	if err != nil {
		return err
	}
	files := append(layout.files, file{path: "index.json", data: top}, file{path: "oci-layout", data: []byte(`{"imageLayoutVersion":"1.0.0"}`)})
	data, err := tarball("", files, r.date)
	if err != nil {
		return err
	}
	return r.write("bento-"+r.version+"-image.tar", data)
}

// ociLayout collects the blobs of an image.
type ociLayout struct {
	date  time.Time
	files []file
}

// add adds the image of a build.
func (l *ociLayout) add(b build) (blob, error) {
	plain, err := tarball("", []file{{path: "bento", data: b.program, program: true}}, l.date)
	if err != nil {
		return blob{}, err
	}
	packed, err := gzipped(plain)
	if err != nil {
		return blob{}, err
	}
	layer := l.addBlob("application/vnd.oci.image.layer.v1.tar+gzip", packed)
	config, err := l.addJSON("application/vnd.oci.image.config.v1+json", map[string]any{
		"created": l.date.Format(time.RFC3339), "os": b.os, "architecture": b.arch,
		"config": map[string]any{"Entrypoint": []string{"/bento"}, "WorkingDir": "/workspace", "Labels": map[string]string{"org.opencontainers.image.source": homepage}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{digest(plain)}},
	})
	if err != nil {
		return blob{}, err
	}
	manifest, err := l.addJSON("application/vnd.oci.image.manifest.v1+json", map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config, "layers": []blob{layer},
	})
	manifest.Platform = &ociPlatform{b.os, b.arch}
	return manifest, err
}

func (l *ociLayout) addJSON(mediaType string, value any) (blob, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return blob{}, err
	}
	return l.addBlob(mediaType, data), nil
}

func (l *ociLayout) addBlob(mediaType string, data []byte) blob {
	b := blob{MediaType: mediaType, Digest: digest(data), Size: len(data)}
	l.files = append(l.files, file{path: "blobs/sha256/" + b.Digest[len("sha256:"):], data: data})
	return b
}

func digest(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }
