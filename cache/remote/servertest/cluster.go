package servertest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	lro "cloud.google.com/go/longrunning/autogen/longrunningpb"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/genproto/googleapis/bytestream"
	rpc "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"
)

// Cluster is a server of the Remote Execution API whose workers do what a test says. Its fields are set before its start.
type Cluster struct {
	repb.UnimplementedCapabilitiesServer
	repb.UnimplementedContentAddressableStorageServer
	repb.UnimplementedExecutionServer
	lro.UnimplementedOperationsServer
	bytestream.UnimplementedByteStreamServer

	GRPC    string // the address, since its start
	Workers int
	Delay   time.Duration // before the answer of each call
	// Work is what a worker does with a command.
	Work func(context.Context, *repb.Command) (*repb.ActionResult, error)
	// Serve returns what a client gets in place of a blob, and after how many of these bytes a stream ends. It may be nil.
	Serve func(data []byte) (other []byte, end int)
	// Allow returns the error of a call of a method. It may be nil.
	Allow func(method string) error

	free   chan struct{}
	server *grpc.Server

	mu       sync.Mutex
	blobs    map[string][]byte // by hash
	ends     map[string]context.CancelFunc
	canceled int
}

// Start starts the server, which runs until the test ends.
func (c *Cluster) Start(t testing.TB) {
	t.Helper()
	c.free = make(chan struct{}, c.Workers)
	c.blobs, c.ends = make(map[string][]byte), make(map[string]context.CancelFunc)
	c.server = grpc.NewServer(grpc.MaxConcurrentStreams(1<<20),
		grpc.UnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if err := c.admit(ctx, info.FullMethod); err != nil {
				return nil, err
			}
			return next(ctx, req)
		}),
		grpc.StreamInterceptor(func(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			if err := c.admit(s.Context(), info.FullMethod); err != nil {
				return err
			}
			return next(srv, s)
		}))
	repb.RegisterCapabilitiesServer(c.server, c)
	repb.RegisterContentAddressableStorageServer(c.server, c)
	repb.RegisterExecutionServer(c.server, c)
	lro.RegisterOperationsServer(c.server, c)
	bytestream.RegisterByteStreamServer(c.server, c)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.GRPC = l.Addr().String()
	var serving sync.WaitGroup
	serving.Go(func() { _ = c.server.Serve(l) }) // until Stop
	t.Cleanup(func() { c.Stop(); serving.Wait() })
}

// Stop ends the server and all connections.
func (c *Cluster) Stop() { c.server.Stop() }

// Canceled returns how many executions a client has canceled.
func (c *Cluster) Canceled() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.canceled
}

// admit is the begin of a call.
func (c *Cluster) admit(ctx context.Context, method string) error {
	if c.Delay > 0 {
		select {
		case <-time.After(c.Delay):
		case <-ctx.Done():
		}
	}
	if c.Allow != nil {
		return c.Allow(path.Base(method))
	}
	return nil
}

// GetCapabilities is a method of the API.
func (c *Cluster) GetCapabilities(context.Context, *repb.GetCapabilitiesRequest) (*repb.ServerCapabilities, error) {
	sha := repb.DigestFunction_SHA256
	return &repb.ServerCapabilities{
		CacheCapabilities:     &repb.CacheCapabilities{DigestFunctions: []repb.DigestFunction_Value{sha}},
		ExecutionCapabilities: &repb.ExecutionCapabilities{DigestFunction: sha, DigestFunctions: []repb.DigestFunction_Value{sha}, ExecEnabled: true},
	}, nil
}

func (c *Cluster) blob(d *repb.Digest) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if data, ok := c.blobs[d.GetHash()]; ok {
		return data, nil
	}
	return nil, grpcstatus.Errorf(codes.NotFound, "no blob %s", d.GetHash())
}

// Put stores a blob.
func (c *Cluster) Put(data []byte) *repb.Digest {
	sum := sha256.Sum256(data)
	d := &repb.Digest{Hash: hex.EncodeToString(sum[:]), SizeBytes: int64(len(data))}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.blobs[d.Hash] = data
	return d
}

// FindMissingBlobs is a method of the API.
func (c *Cluster) FindMissingBlobs(_ context.Context, r *repb.FindMissingBlobsRequest) (*repb.FindMissingBlobsResponse, error) {
	res := new(repb.FindMissingBlobsResponse)
	for _, d := range r.BlobDigests {
		if _, err := c.blob(d); err != nil {
			res.MissingBlobDigests = append(res.MissingBlobDigests, d)
		}
	}
	return res, nil
}

// BatchUpdateBlobs is a method of the API.
func (c *Cluster) BatchUpdateBlobs(_ context.Context, r *repb.BatchUpdateBlobsRequest) (*repb.BatchUpdateBlobsResponse, error) {
	res := new(repb.BatchUpdateBlobsResponse)
	for _, q := range r.Requests {
		res.Responses = append(res.Responses, &repb.BatchUpdateBlobsResponse_Response{Digest: c.Put(q.Data), Status: new(rpc.Status)})
	}
	return res, nil
}

// BatchReadBlobs is a method of the API.
func (c *Cluster) BatchReadBlobs(_ context.Context, r *repb.BatchReadBlobsRequest) (*repb.BatchReadBlobsResponse, error) {
	res := new(repb.BatchReadBlobsResponse)
	for _, d := range r.Digests {
		data, err := c.blob(d)
		if err == nil && c.Serve != nil {
			data, _ = c.Serve(data)
		}
		res.Responses = append(res.Responses, &repb.BatchReadBlobsResponse_Response{Digest: d, Data: data, Status: grpcstatus.Convert(err).Proto()})
	}
	return res, nil
}

// CancelOperation is a method of the API.
func (c *Cluster) CancelOperation(_ context.Context, r *lro.CancelOperationRequest) (*emptypb.Empty, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if end := c.ends[r.Name]; end != nil {
		c.canceled++
		delete(c.ends, r.Name)
		end()
	}
	return new(emptypb.Empty), nil
}

// Execute is a method of the API.
func (c *Cluster) Execute(r *repb.ExecuteRequest, stream repb.Execution_ExecuteServer) error {
	action, command := new(repb.Action), new(repb.Command)
	if err := c.message(r.ActionDigest, action); err != nil {
		return err
	}
	if err := c.message(action.CommandDigest, command); err != nil {
		return err
	}
	ctx, name := c.begin(stream.Context(), r.ActionDigest)
	at := func(stage repb.ExecutionStage_Value) *lro.Operation {
		return &lro.Operation{Name: name, Metadata: packed(&repb.ExecuteOperationMetadata{Stage: stage, ActionDigest: r.ActionDigest})}
	}
	if err := stream.Send(at(repb.ExecutionStage_QUEUED)); err != nil {
		return err
	}
	select {
	case c.free <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-c.free }()
	if err := stream.Send(at(repb.ExecutionStage_EXECUTING)); err != nil {
		return err
	}
	result, err := c.Work(ctx, command)
	if err != nil {
		return err
	}
	end := at(repb.ExecutionStage_COMPLETED)
	end.Done, end.Result = true, &lro.Operation_Response{Response: packed(&repb.ExecuteResponse{Result: result})}
	return stream.Send(end)
}

// begin names an execution, which ends with the context.
func (c *Cluster) begin(ctx context.Context, action *repb.Digest) (_ context.Context, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name = fmt.Sprintf("op/%d/%s", len(c.ends), action.Hash)
	ctx, c.ends[name] = context.WithCancel(ctx)
	return ctx, name
}

func (c *Cluster) message(d *repb.Digest, m proto.Message) error {
	data, err := c.blob(d)
	if err != nil {
		return err
	}
	return proto.Unmarshal(data, m)
}

func packed(m proto.Message) *anypb.Any {
	a, err := anypb.New(m)
	if err != nil {
		panic(err)
	}
	return a
}

// maxPart is how many bytes a message of a stream has.
const maxPart = 64 << 10

// Read is a method of the API.
func (c *Cluster) Read(r *bytestream.ReadRequest, stream bytestream.ByteStream_ReadServer) error {
	words := strings.Split(r.ResourceName, "/")
	if len(words) < 2 {
		return grpcstatus.Errorf(codes.InvalidArgument, "resource %q", r.ResourceName)
	}
	data, err := c.blob(&repb.Digest{Hash: words[len(words)-2]})
	if err != nil {
		return err
	}
	if c.Serve != nil {
		other, end := c.Serve(data)
		data = other[:min(end, len(other))]
	}
	for part := range slices.Chunk(data[min(int(r.ReadOffset), len(data)):], maxPart) {
		if err := stream.Send(&bytestream.ReadResponse{Data: part}); err != nil {
			return err
		}
	}
	return nil
}
