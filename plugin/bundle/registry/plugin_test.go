package registry

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aead.dev/minisign"
	oci "github.com/google/go-containerregistry/pkg/registry"

	"github.com/bentobuild/bento/plugin/bundle"
	"github.com/bentobuild/bento/plugin/bundle/archive"
	"github.com/bentobuild/bento/plugin/bundle/manifest"
	"github.com/bentobuild/bento/plugin/bundle/seal"
)

// adapterFiles returns the files of an adapter's package. The text more has further members of the
// manifest.
func adapterFiles(id, version, more string) []archive.File {
	text := fmt.Sprintf(`{"id": %q, "version": %q, "protocol_version": 1, "program": "bento-adapter-%s"%s}`, id, version, id, more)
	return []archive.File{
		{Name: manifest.AdapterFile, Data: []byte(text)},
		{Name: "bento-adapter-" + id, Data: []byte("#!/bin/sh\n# " + version + "\n"), Exec: true},
	}
}

// module returns the files of a module's package. The text more has further members of the manifest.
func module(id, version, more string) []archive.File {
	wasm := []byte("\x00asm\x01\x00\x00\x00" + id + version)
	text := fmt.Sprintf(`{"id": %q, "version": %q, "entrypoint": "x", "wasm_file": "m.wasm", "wasm_sha256": %q, "allowed_host_calls": []%s}`, id, version, sum(wasm), more)
	return []archive.File{{Name: manifest.ModuleFile, Data: []byte(text)}, {Name: "m.wasm", Data: wasm}}
}

// needs returns the member of a manifest for dependencies such as "b ^1".
func tarOf(t *testing.T, files []archive.File) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := archive.WriteTar(&out, files); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// wantErr checks the message of an error. With "" it checks that no error occurred.
func wantErr(t *testing.T, err error, text string) {
	t.Helper()
	if text == "" && err != nil || text != "" && (err == nil || !strings.Contains(err.Error(), text)) {
		t.Errorf("got %v, want %q", err, text)
	}
}

// adapterWorld is a bundle.Store of plugins with a source of packages.
type adapterWorld struct {
	t     *testing.T
	store *bundle.Store
	fetch Fetcher
	opts  bundle.AddOptions
}

func newAdapterWorld(t *testing.T) *adapterWorld {
	return &adapterWorld{t: t, store: &bundle.Store{Dir: filepath.Join(t.TempDir(), "plugins"), Plugins: true}}
}

// add adds a package and returns "version signature signer", or the error.
func (w *adapterWorld) add(source, ref string) string {
	w.t.Helper()
	id, want, err := manifest.ParseReference(ref)
	if err != nil {
		w.t.Fatal(err)
	}
	p, err := w.fetch.Plugin(context.Background(), source, id, want)
	if err != nil {
		return err.Error()
	}
	added, err := w.store.Add(context.Background(), p, w.opts)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(p.Version + " " + added.Signature + " " + added.Signer)
}

func (w *adapterWorld) want(source, ref, text string) {
	w.t.Helper()
	if got := w.add(source, ref); !strings.Contains(got, text) {
		w.t.Errorf("%s from %s: %q, want %q", ref, source, got, text)
	}
}

// nothingLeft checks that the store has no files of refused packages.
func (w *adapterWorld) nothingLeft() {
	w.t.Helper()
	entries, err := os.ReadDir(w.store.Dir)
	if err == nil && len(entries) > 0 {
		w.t.Errorf("left: %v", entries)
	}
}

func TestAddFromDirectory(t *testing.T) {
	t.Parallel()
	w, dir := newAdapterWorld(t), t.TempDir()
	own := strings.ReplaceAll(manifest.Platform(), "/", "-")
	for _, version := range []string{"1.0.0", "1.2.0", "2.0.0-rc.1"} {
		put(t, filepath.Join(dir, "a-"+version+".tar"), tarOf(t, adapterFiles("a", version, "")))
	}
	put(t, filepath.Join(dir, "a-1.2.0-"+own+".tar"), tarOf(t, adapterFiles("a", "1.2.0", fmt.Sprintf(`, "platform": %q`, manifest.Platform()))))
	put(t, filepath.Join(dir, "a-1.3.0-plan9-mips.tar"), tarOf(t, adapterFiles("a", "1.3.0", `, "platform": "plan9/mips"`)))
	put(t, filepath.Join(dir, "ab-9.0.0.tar"), nil)
	w.want(dir, "a", "1.2.0 unsigned")
	found, problems := w.store.Adapters()
	if len(found) != 1 || found[0].Adapter.Platform != manifest.Platform() || len(problems) > 0 {
		t.Errorf("installed: %+v %v", found, problems)
	}
	if info, err := os.Stat(found[0].Program()); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("the program: %v %v", info, err)
	}
	w.want(dir, "a@1.0", "1.2.0 unsigned")
	w.want(dir, "a@=1.0.0", "1.0.0 unsigned")
	w.want(dir, "a@2.0.0-rc.1", "2.0.0-rc.1 unsigned")
	w.want(dir, "a@3", `no version for `+manifest.Platform()+` fulfils "a@3", found "2.0.0-rc.1"`)
	put(t, filepath.Join(dir, "only-1.0.0-plan9-mips.tar"), tarOf(t, adapterFiles("only", "1.0.0", `, "platform": "plan9/mips"`)))
	w.want(dir, "only", `no version for `+manifest.Platform()+` fulfils "only", found "1.0.0-plan9-mips"`)
	w.want(dir, "b", "it has neither bento-plugin.json nor a package b-VERSION.tar")
	w.want(filepath.Join(dir, "a-1.3.0-plan9-mips.tar"), "a", "a 1.3.0 is built for plan9/mips, expected "+manifest.Platform())
	w.want(filepath.Join(dir, "a-1.0.0.tar"), "b", "it is a 1.0.0, expected b")
	w.want(filepath.Join(dir, "ab-9.0.0.tar"), "ab", "the archive has no files")
	w.want(filepath.Join(dir, "none"), "a", "no such file or directory")
}

// TestHostileAdapters: a refused package leaves no files.
func TestHostileAdapters(t *testing.T) {
	t.Parallel()
	w, dir := newAdapterWorld(t), t.TempDir()
	with := func(name string) []archive.File {
		return append(adapterFiles("a", "1.0.0", ""), archive.File{Name: name})
	}
	for _, c := range []struct {
		name, want string
		data       []byte
	}{
		{"climbs", `the name has the element ".."`, tarOf(t, with("../../evil"))},
		{"absolute", "an absolute name", tarOf(t, with("/etc/evil"))},
		{"twice", "the name occurs twice", tarOf(t, with("bento-adapter-a"))},
		{"compressed", "the archive is compressed", []byte("\x1f\x8b\x08")},
		{"no archive", "neither a tar nor a zip", bytes.Repeat([]byte("x"), 1024)},
		{"a tool", "is the package of a tool", tarOf(t, module("a", "1.0.0", ""))},
		{"a record of bento", `is reserved for bento`, tarOf(t, with(".bento-package.json"))},
		{"another id", `it is b 1.0.0, expected a`, tarOf(t, adapterFiles("b", "1.0.0", ""))},
	} {
		path := filepath.Join(dir, "package.tar")
		put(t, path, c.data)
		if got := w.add(path, "a"); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	unpackedDir := t.TempDir()
	for _, f := range adapterFiles("a", "1.0.0", "") {
		put(t, filepath.Join(unpackedDir, f.Name), f.Data)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(unpackedDir, "LICENSE")); err != nil {
		t.Fatal(err)
	}
	w.want(unpackedDir, "a", "a link or a special file")
	w.nothingLeft()
}

func TestAdapterSignatures(t *testing.T) {
	t.Parallel()
	w, dir := newAdapterWorld(t), t.TempDir()
	pub, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := pub.MarshalText()
	trusted, err := seal.ParseKey("acme", string(text))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "a-1.0.0.tar")
	data := tarOf(t, adapterFiles("a", "1.0.0", ""))
	put(t, path, data)
	w.opts = bundle.AddOptions{RequireSigned: true, Seals: []seal.Key{trusted}}
	w.want(dir, "a", "a 1.0.0 has no signature, and one by a trusted key is required")
	put(t, path+".minisig", minisign.Sign(private, append(data, 0)))
	w.want(dir, "a", "a 1.0.0: its signature is not valid: the key acme has not signed this package")
	w.opts.RequireSigned = false // a forged signature is refused even if none is required
	w.want(dir, "a", "the key acme has not signed this package")
	_, other, _ := minisign.GenerateKey(rand.Reader)
	put(t, path+".minisig", minisign.Sign(other, data))
	w.opts.RequireSigned = true
	w.want(dir, "a", fmt.Sprintf("is signed with the key %016X, which you do not trust", other.ID()))
	put(t, path+".minisig", make([]byte, seal.MaxSize+1))
	w.want(dir, "a", "its signature .minisig: more than 16384 bytes")
	w.nothingLeft()
	put(t, path+".minisig", minisign.Sign(private, data))
	w.want(dir, "a", "1.0.0 valid acme")
	found, problems := w.store.Adapters()
	if len(problems) > 0 || len(found) != 1 || found[0].Key != trusted.Fingerprint() {
		t.Errorf("the record: %+v %v, want the key %s", found, problems, trusted.Fingerprint())
	}

	// The same over HTTP. A 404 means that the signature is missing, and any other status is an error.
	status := http.StatusNotFound
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case !strings.HasSuffix(r.URL.Path, ".tar") && status != 0:
			rw.WriteHeader(status)
		case r.URL.Query().Get("token") != "x":
			rw.WriteHeader(http.StatusForbidden)
		default:
			http.ServeFile(rw, r, filepath.Join(dir, filepath.Base(r.URL.Path)))
		}
	}))
	defer server.Close()
	address := server.URL + "/a-1.0.0.tar?token=x"
	w.want(address, "a", "a 1.0.0 has no signature")
	status = http.StatusInternalServerError
	w.want(address, "a", "its signature .minisig: the server answered 500")
	status = 0
	w.want(address, "a", "1.0.0 valid acme")
}

// TestAddFromRegistry publishes to a registry and adds from it, with signatures of minisign and of cosign.
func TestAddFromRegistry(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(oci.New(oci.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	repo := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/plugins/a"
	w, ctx := newAdapterWorld(t), context.Background()
	pub, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := pub.MarshalText()
	mini, _ := seal.ParseKey("mini", string(text))
	curve, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	der, _ := x509.MarshalPKIXPublicKey(curve.Public())
	blob, err := seal.ParseKey("blob", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))
	if err != nil {
		t.Fatal(err)
	}
	publish := func(version string, sign bool) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), "a.tar")
		data := tarOf(t, adapterFiles("a", version, ""))
		if put(t, path, data); sign {
			put(t, path+".minisig", minisign.Sign(private, data))
		}
		p, err := w.fetch.PackAdapter(ctx, path, "", "")
		if err != nil {
			t.Fatal(err)
		}
		to, err := w.fetch.Publish(ctx, strings.TrimPrefix(repo, "oci://"), p)
		if err != nil {
			t.Fatal(err)
		}
		return to
	}
	w.opts = bundle.AddOptions{RequireSigned: true, Seals: []seal.Key{mini, blob}}
	publish("1.0.0", true)
	plain := publish("1.1.0", false)
	w.want(repo, "a@=1.0.0", "1.0.0 valid mini")
	w.want(repo, "a", "a 1.1.0 has no signature")
	sign := func(digest [32]byte) []byte {
		sig, _ := ecdsa.SignASN1(rand.Reader, curve, digest[:])
		return sig
	}
	cosign(t, plain, "sha256:"+strings.Repeat("0", 64), sign) // it signs the digest of another artifact
	w.want(repo, "a", "a 1.1.0 has no signature")
	cosign(t, plain, "", sign)
	w.want(repo, "a", "1.1.0 valid blob")
	w.want(plain, "a", "1.1.0 valid blob")
	w.opts.Seals = []seal.Key{mini}
	w.want(repo, "a@1.1", "is signed with the key of cosign, which you do not trust")
	w.want(repo+":1.0.0", "a", "1.0.0 valid mini")
	w.want(repo+":1.0.0", "a@1.1", "it is a 1.0.0, expected a@1.1")
	w.want(repo+":9", "a", "the registry has no such artifact")
	w.want(repo+"@sha256:"+strings.Repeat("0", 64), "a", "the registry has no such artifact")
	w.want(repo, "a@4", `fulfils "a@4", found "1.1.0", "1.0.0"`)

	p, err := bundle.PackFiles("", adapterFiles("a", "1.0.0", `, "license": "MIT"`))
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.fetch.Publish(ctx, strings.TrimPrefix(repo, "oci://"), p)
	wantErr(t, err, "is published with the digest sha256:")
}

// cosign stores a signature beside an artifact, as cosign sign --key does. It signs the artifact, or the
// digest in other if that is not empty.
func cosign(t *testing.T, ref, other string, sign func([32]byte) []byte) {
	t.Helper()
	base, digest, _ := strings.Cut(ref, "@")
	base = strings.TrimPrefix(base[:strings.LastIndex(base, ":")], "oci://")
	host, repo, _ := strings.Cut(base, "/")
	payload := []byte(`{"critical":{"identity":{"docker-reference":""},"image":{"docker-manifest-digest":"` + cmp.Or(other, digest) + `"},"type":"cosign container image signature"},"optional":null}`)
	layer := func(data []byte, annotations map[string]string) map[string]any {
		upload(t, http.MethodPost, fmt.Sprintf("http://%s/v2/%s/blobs/uploads/?digest=sha256:%x", host, repo, sha256.Sum256(data)), data)
		return map[string]any{"mediaType": typeSimple, "size": len(data), "digest": fmt.Sprintf("sha256:%x", sha256.Sum256(data)), "annotations": annotations}
	}
	list := []any{layer(payload, map[string]string{cosignNote: base64.StdEncoding.EncodeToString(sign(sha256.Sum256(payload)))})}
	data, _ := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": layer([]byte("{}"), nil), "layers": list,
	})
	upload(t, http.MethodPut, "http://"+host+"/v2/"+repo+"/manifests/"+strings.Replace(digest, ":", "-", 1)+".sig", data)
}

func upload(t *testing.T, method, address string, body []byte) {
	t.Helper()
	req, err := http.NewRequest(method, address, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusCreated {
		t.Fatalf("%s %s: %s", method, address, res.Status)
	}
}
