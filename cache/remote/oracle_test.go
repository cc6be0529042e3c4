package remote

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	rea "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/bentobuild/bento/cache"
)

func digestOf(d Digest) *rea.Digest {
	return &rea.Digest{Hash: hex.EncodeToString(d.Hash[:]), SizeBytes: d.Size}
}

// canonical checks that data is the one form that a message of the API has.
func canonical[M proto.Message](t *testing.T, data []byte, into M) M {
	t.Helper()
	if err := proto.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
	again, err := proto.MarshalOptions{Deterministic: true}.Marshal(into)
	if err != nil || !bytes.Equal(again, data) {
		t.Errorf("%T has another form as it is defined (%v):\n%x\n%x", into, err, data, again)
	}
	if unknown := into.ProtoReflect().GetUnknown(); len(unknown) > 0 {
		t.Errorf("%T has unknown fields: %x", into, unknown)
	}
	return into
}

func sameMessage(t *testing.T, got, want proto.Message) {
	t.Helper()
	if !proto.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// The hand-written messages are those of the API's own stubs.
func TestActionByTheStubs(t *testing.T) {
	id := ID{Key: cache.Key{1, 2, 3}, Class: "linux/amd64 debian-12 glibc-2.36", Scope: "pr-7"}
	got := canonical(t, action(id), &rea.Action{})
	sameMessage(t, canonical(t, command(), &rea.Command{}), &rea.Command{Arguments: []string{"bento"}})
	sameMessage(t, got, &rea.Action{
		CommandDigest: digestOf(Sum(command())), InputRootDigest: digestOf(Sum(nil)),
		Salt: slices.Concat([]byte("bento 1\x00"), id.Key[:], []byte("linux/amd64 debian-12 glibc-2.36\x00pr-7")),
	})
	for _, other := range []ID{{Key: cache.Key{1, 2, 4}, Class: id.Class, Scope: id.Scope}, {Key: id.Key, Class: "x", Scope: id.Scope}, {Key: id.Key, Class: id.Class, Scope: "trunk"}} {
		if other.Action() == id.Action() {
			t.Errorf("%v has the action of %v", other, id)
		}
	}
}

// sealedOf returns an envelope of r, whose wire digests are those of the paths, and its sealed form.
func sealedOf(t *testing.T, r *cache.Record) (*Envelope, []byte) {
	t.Helper()
	e := &Envelope{ID: ID{Class: "linux", Scope: "trunk"}, Record: r}
	blobs, err := Blobs(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blobs {
		e.Wire = append(e.Wire, Digest{Hash: Sum(b.Digest[:]).Hash, Size: b.Size})
	}
	sealed, err := Seal(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	return e, sealed
}

func TestResultByTheStubs(t *testing.T) {
	r := sample()
	e, sealed := sealedOf(t, r)
	out := encodeResult(e, sealed)
	wire := e.wires()
	mode := func(m uint32) *rea.NodeProperties { return &rea.NodeProperties{UnixMode: wrapperspb.UInt32(m)} }
	sameMessage(t, canonical(t, out.result, &rea.ActionResult{}), &rea.ActionResult{
		OutputFiles: []*rea.OutputFile{
			{Path: "a/dist/app", Digest: digestOf(wire(cache.Sum([]byte("app")))), IsExecutable: true, NodeProperties: mode(0o755)},
			{Path: "a/dist/small", Digest: digestOf(Sum([]byte("small"))), NodeProperties: mode(0o644)},
		},
		OutputDirectories: []*rea.OutputDirectory{{Path: "a/dist/empty", TreeDigest: digestOf(Sum(emptyTree()))}},
		OutputSymlinks:    []*rea.OutputSymlink{{Path: "a/dist/link", Target: "app"}},
		StdoutDigest:      digestOf(wire(r.Log)),
		ExecutionMetadata: &rea.ExecutedActionMetadata{
			Worker:               "linux",
			WorkerStartTimestamp: timestamppb.New(r.Created.Add(-r.Duration)), WorkerCompletedTimestamp: timestamppb.New(r.Created),
			AuxiliaryMetadata: []*anypb.Any{{TypeUrl: inlineURL, Value: sealed}},
		},
	})
	named(t, e, out)
	if got, at, err := envelopeOf(out.result); err != nil || !bytes.Equal(got, sealed) || at != (Digest{}) {
		t.Errorf("%x, %v, %v", got, at, err)
	}
}

// named checks that every blob that a server finds in a result is one that is sent, and that every blob of the record is found.
func named(t *testing.T, e *Envelope, out encoded) {
	t.Helper()
	sent := make(map[string]bool)
	for _, d := range e.Wire {
		sent[hex.EncodeToString(d.Hash[:])] = true
	}
	byHash := make(map[string][]byte)
	for _, data := range out.blobs {
		d := Sum(data)
		byHash[hex.EncodeToString(d.Hash[:])] = data
		sent[hex.EncodeToString(d.Hash[:])] = true
	}
	found := make(map[string]bool)
	look := func(d *rea.Digest) {
		if found[d.Hash] = true; !sent[d.Hash] {
			t.Errorf("the result names %s, which is not sent", d.Hash)
		}
	}
	var result rea.ActionResult
	if err := proto.Unmarshal(out.result, &result); err != nil {
		t.Fatal(err)
	}
	for _, f := range result.OutputFiles {
		look(f.Digest)
	}
	for _, dir := range result.OutputDirectories {
		look(dir.TreeDigest)
		tree := canonical(t, byHash[dir.TreeDigest.Hash], &rea.Tree{})
		for _, d := range append(tree.Children, tree.Root) {
			for _, f := range d.Files {
				look(f.Digest)
			}
		}
	}
	if result.StdoutDigest != nil {
		look(result.StdoutDigest)
	}
	for _, d := range e.Wire {
		if !found[hex.EncodeToString(d.Hash[:])] {
			t.Errorf("a server does not see that the result needs %x", d.Hash)
		}
	}
}

// A result of many outputs has Trees. They are read back to paths here, as a server or a browser does.
func TestTreesByTheStubs(t *testing.T) {
	r := sample()
	for i := range maxFlat {
		data := fmt.Appendf(nil, "file %d", i%100)
		r.Outputs = append(r.Outputs, cache.Output{Path: fmt.Sprintf("a/many/%d-%s/%05d", i%7, strings.Repeat("x", i%3), i), Kind: cache.File, Mode: 0o644, Digest: cache.Sum(data), Size: int64(len(data))})
	}
	r.Outputs = append(r.Outputs,
		cache.Output{Path: "top", Kind: cache.File, Mode: 0o755, Digest: cache.Sum([]byte("app")), Size: 3},
		cache.Output{Path: "z/only/a/directory", Kind: cache.Dir, Mode: 0o755},
		cache.Output{Path: "a/not UTF-8 \xff", Kind: cache.Link, Target: "many"},
	)
	slices.SortFunc(r.Outputs, func(a, b cache.Output) int { return strings.Compare(a.Path, b.Path) })
	e, sealed := sealedOf(t, r)
	out := encodeResult(e, sealed)
	named(t, e, out)
	if len(out.result) > 10_000 {
		t.Errorf("the result has %d bytes", len(out.result))
	}
	if got, at, err := envelopeOf(out.result); err != nil || got != nil || at != Sum(sealed) {
		t.Errorf("%x, %v, %v, want the digest of a blob of its own", got, at, err)
	}
	var want []string
	for _, o := range r.Outputs {
		want = append(want, strings.ToValidUTF8(o.Path, "\ufffd")+" "+strings.Repeat("d", max(0, int(o.Kind)-2)))
	}
	got := pathsOf(t, out)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths, -want +got:\n%s", diff)
	}
}

// pathsOf returns the paths in a result, with a mark for an empty directory.
func pathsOf(t *testing.T, out encoded) (paths []string) {
	t.Helper()
	var result rea.ActionResult
	if err := proto.Unmarshal(out.result, &result); err != nil {
		t.Fatal(err)
	}
	blobs := make(map[string][]byte)
	for _, data := range out.blobs {
		blobs[digestOf(Sum(data)).Hash] = data
	}
	for _, f := range result.OutputFiles {
		if f.Path != envelopePath {
			paths = append(paths, f.Path+" ")
		}
	}
	for _, l := range result.OutputSymlinks {
		paths = append(paths, l.Path+" ")
	}
	for _, dir := range result.OutputDirectories {
		tree := canonical(t, blobs[dir.TreeDigest.Hash], &rea.Tree{})
		children := make(map[string]*rea.Directory)
		for _, child := range tree.Children {
			data, err := proto.Marshal(child)
			if err != nil {
				t.Fatal(err)
			}
			children[digestOf(Sum(data)).Hash] = child
		}
		var walk func(at string, d *rea.Directory)
		walk = func(at string, d *rea.Directory) {
			if !slices.IsSortedFunc(d.Files, func(a, b *rea.FileNode) int { return strings.Compare(a.Name, b.Name) }) ||
				!slices.IsSortedFunc(d.Directories, func(a, b *rea.DirectoryNode) int { return strings.Compare(a.Name, b.Name) }) {
				t.Errorf("%s is not sorted", at)
			}
			for _, f := range d.Files {
				paths = append(paths, at+"/"+f.Name+" ")
			}
			for _, l := range d.Symlinks {
				paths = append(paths, at+"/"+l.Name+" ")
			}
			for _, sub := range d.Directories {
				walk(at+"/"+sub.Name, children[sub.Digest.Hash])
			}
			if len(d.Files)+len(d.Symlinks)+len(d.Directories) == 0 {
				paths = append(paths, at+" d")
			}
		}
		walk(dir.Path, tree.Root)
	}
	slices.Sort(paths)
	return paths
}
