package servertest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"runtime"
	"strings"
	"testing"
)

// Registry serves an image by the distribution protocol of OCI, without TLS: one layer with the files of a tar archive. It returns
// the reference with the digest, such as 127.0.0.1:5000/NAME@sha256:…. The image sets variables, as NAME=VALUE.
func Registry(t testing.TB, name string, files []byte, variables ...string) (reference string) {
	t.Helper()
	blobs := make(map[string][]byte) // by digest
	put := func(kind string, data []byte) map[string]any {
		sum := fmt.Sprintf("sha256:%x", sha256.Sum256(data))
		blobs[sum] = data
		return map[string]any{"mediaType": kind, "digest": sum, "size": len(data)}
	}
	encode := func(v any) []byte {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	var layer bytes.Buffer
	z := gzip.NewWriter(&layer)
	if _, err := z.Write(files); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	const oci = "application/vnd.oci.image."
	config := put(oci+"config.v1+json", encode(map[string]any{
		"os": "linux", "architecture": runtime.GOARCH, "config": map[string]any{"Env": variables},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(files))}},
	}))
	manifest := put(oci+"manifest.v1+json", encode(map[string]any{
		"schemaVersion": 2, "mediaType": oci + "manifest.v1+json", "config": config, "layers": []any{put(oci+"layer.v1.tar+gzip", layer.Bytes())},
	}))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := blobs[path.Base(r.URL.Path)]
		switch {
		case r.URL.Path == "/v2/":
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		default:
			if path.Base(path.Dir(r.URL.Path)) == "manifests" {
				w.Header().Set("Content-Type", oci+"manifest.v1+json")
			}
			w.Header().Set("Docker-Content-Digest", path.Base(r.URL.Path))
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			if r.Method != http.MethodHead {
				_, _ = w.Write(data) // the client says what it misses
			}
		}
	}))
	t.Cleanup(s.Close)
	return fmt.Sprintf("%s/%s@%s", strings.TrimPrefix(s.URL, "http://"), name, manifest["digest"])
}
