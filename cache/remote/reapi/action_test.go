package reapi

import (
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/bentobuild/bento/cache/remote"
)

func digestOf(d remote.Digest) *repb.Digest {
	m := new(repb.Digest)
	if err := proto.Unmarshal(encodeDigest(d), m); err != nil {
		panic(err)
	}
	return m
}

// TestActions: the stubs of the API decode what is encoded here, in the canonical order.
func TestActions(t *testing.T) {
	t.Parallel()
	a, b := remote.Sum([]byte("a")), remote.Sum([]byte("b"))
	properties := []Variable{{"pool", "x"}, {"OSFamily", "linux"}}
	platform := &repb.Platform{Properties: []*repb.Platform_Property{{Name: "OSFamily", Value: "linux"}, {Name: "pool", Value: "x"}}}
	command := Command{Argv: []string{"sh", "", "x y"}, Env: []Variable{{"B", "2"}, {"A", ""}}, Dir: "w", Outputs: []string{"o", "a", "o"}, Properties: properties}
	for _, c := range []struct {
		data      []byte
		got, want proto.Message
	}{
		{command.Encode(), new(repb.Command), &repb.Command{
			Arguments: []string{"sh", "", "x y"}, EnvironmentVariables: []*repb.Command_EnvironmentVariable{{Name: "A"}, {Name: "B", Value: "2"}},
			//lint:ignore SA1019 older servers look for the platform in the command
			WorkingDirectory: "w", OutputPaths: []string{"a", "o"}, Platform: platform, OutputNodeProperties: []string{"unix_mode"},
		}},
		{(&Action{Command: a, Root: b, Timeout: 1500 * time.Millisecond, Salt: []byte("s"), Properties: properties}).Encode(), new(repb.Action), &repb.Action{
			CommandDigest: digestOf(a), InputRootDigest: digestOf(b), Timeout: durationpb.New(1500 * time.Millisecond), Salt: []byte("s"), Platform: platform,
		}},
		{(&Directory{Files: []File{{Path: "z", Digest: a, Exec: true}, {Path: "y", Digest: b}}, Dirs: []Dir{{"d", a}}, Links: []Link{{"l", "to"}}}).Encode(), new(repb.Directory), &repb.Directory{
			Files:       []*repb.FileNode{{Name: "y", Digest: digestOf(b)}, {Name: "z", Digest: digestOf(a), IsExecutable: true}},
			Directories: []*repb.DirectoryNode{{Name: "d", Digest: digestOf(a)}}, Symlinks: []*repb.SymlinkNode{{Name: "l", Target: "to"}},
		}},
	} {
		err := proto.Unmarshal(c.data, c.got)
		if d := cmp.Diff(c.want, c.got, protocmp.Transform()); d != "" || err != nil {
			t.Errorf("%v, -want +got:\n%s", err, d)
		}
		if again, _ := (proto.MarshalOptions{Deterministic: true}).Marshal(c.want); string(again) != string(c.data) {
			t.Errorf("%T has another order: %x, want %x", c.got, c.data, again)
		}
	}
}

// TestActionResults: what the stubs encode is decoded.
func TestActionResults(t *testing.T) {
	t.Parallel()
	a, now := remote.Sum([]byte("a")), time.Unix(1_700_000_000, 5)
	data, err := proto.Marshal(&repb.ActionResult{
		OutputFiles:       []*repb.OutputFile{{Path: "f", Digest: digestOf(a), IsExecutable: true, NodeProperties: &repb.NodeProperties{UnixMode: wrapperspb.UInt32(0o100750)}}},
		OutputDirectories: []*repb.OutputDirectory{{Path: "d", TreeDigest: digestOf(a)}},
		OutputSymlinks:    []*repb.OutputSymlink{{Path: "l", Target: "f"}},
		ExitCode:          3, StdoutRaw: []byte("out"), StderrDigest: digestOf(a),
		ExecutionMetadata: &repb.ExecutedActionMetadata{
			QueuedTimestamp: timestamppb.New(now), WorkerStartTimestamp: timestamppb.New(now.Add(time.Second)),
			ExecutionStartTimestamp: timestamppb.New(now.Add(2 * time.Second)), ExecutionCompletedTimestamp: timestamppb.New(now.Add(3 * time.Second)),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeActionResult(data)
	want := &ActionResult{
		ExitCode: 3, Files: []File{{Path: "f", Digest: a, Exec: true, Mode: 0o750}}, Dirs: []Dir{{"d", a}}, Links: []Link{{"l", "f"}},
		Stdout: Stream{Raw: []byte("out")}, Stderr: Stream{Digest: a}, Queued: now, Started: now.Add(time.Second), Began: now.Add(2 * time.Second), Ended: now.Add(3 * time.Second),
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, d)
	}
}

// TestTrees: the directories of a Tree come with their paths, and one that lacks a directory is an error.
func TestTrees(t *testing.T) {
	t.Parallel()
	inner := &repb.Directory{Files: []*repb.FileNode{{Name: "f", Digest: digestOf(remote.Sum(nil))}}}
	data, _ := proto.Marshal(inner)
	root := &repb.Directory{Directories: []*repb.DirectoryNode{{Name: "a", Digest: digestOf(remote.Sum(data))}, {Name: "b", Digest: digestOf(remote.Sum(data))}}}
	tree, err := proto.Marshal(&repb.Tree{Root: root, Children: []*repb.Directory{inner}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	err = DecodeTree(tree, func(at string, d *Directory) error {
		got = append(got, at)
		return nil
	})
	if d := cmp.Diff([]string{"", "a", "b"}, got); d != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, d)
	}
	tree, _ = proto.Marshal(&repb.Tree{Root: root})
	contains(t, DecodeTree(tree, func(string, *Directory) error { return nil }), "lacks its directory")
}
