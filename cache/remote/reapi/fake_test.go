package reapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/klauspost/compress/zstd"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/bentobuild/bento/cache/remote"
)

// fake is a server of the Remote Execution API by the real stubs, which does what no real server does on demand. A
// hook replaces a method; its caller sets it before the client is used.
type fake struct {
	repb.UnimplementedCapabilitiesServer
	repb.UnimplementedActionCacheServer
	repb.UnimplementedContentAddressableStorageServer
	bytestream.UnimplementedByteStreamServer

	instance string
	function Function
	zstd     bool
	maxBatch int64
	maxBlob  int64

	allow   func(ctx context.Context) error                                          // each call
	serve   func(d *repb.Digest, data []byte) ([]byte, error)                        // a blob, in place of its bytes
	read    func(r *bytestream.ReadRequest, s bytestream.ByteStream_ReadServer) bool // reports whether it has answered
	written func(name string, size int64) error                                      // after each message of a Write
	caps    func(*repb.ServerCapabilities)
	more    func(*grpc.Server) // registers further services

	mu      sync.Mutex
	blobs   map[string][]byte // by digest
	results map[string]*repb.ActionResult
	uploads map[string][]byte // by name of resource
	calls   map[string]int    // by method
	got     map[string]int64  // bytes of Write by name of resource
}

// start starts the server and returns its address.
func (f *fake) start(t testing.TB, options ...grpc.ServerOption) string {
	t.Helper()
	f.blobs, f.results, f.uploads = make(map[string][]byte), make(map[string]*repb.ActionResult), make(map[string][]byte)
	f.calls, f.got = make(map[string]int), make(map[string]int64)
	count := func(ctx context.Context, method string) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.calls[method[strings.LastIndex(method, "/")+1:]]++
		if f.allow != nil {
			return f.allow(ctx)
		}
		return nil
	}
	options = append(options,
		grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if err := count(ctx, info.FullMethod); err != nil {
				return nil, err
			}
			return next(ctx, req)
		}),
		grpc.ChainStreamInterceptor(func(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			if err := count(s.Context(), info.FullMethod); err != nil {
				return err
			}
			return next(srv, s)
		}))
	server := grpc.NewServer(options...)
	repb.RegisterCapabilitiesServer(server, f)
	repb.RegisterActionCacheServer(server, f)
	repb.RegisterContentAddressableStorageServer(server, f)
	bytestream.RegisterByteStreamServer(server, f)
	if f.more != nil {
		f.more(server)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() { server.Stop(); serving.Wait() })
	return l.Addr().String()
}

func (f *fake) count(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[method]
}

func (f *fake) put(data []byte) remote.Digest {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.function.sum(data)
	f.blobs[text(d)] = data
	return d
}

func name(d *repb.Digest) string { return fmt.Sprintf("%s/%d", d.Hash, d.SizeBytes) }

func (f *fake) expect(instance string, fn repb.DigestFunction_Value) error {
	if instance != f.instance {
		return grpcstatus.Errorf(codes.InvalidArgument, "instance %q", instance)
	}
	if fn != repb.DigestFunction_Value(f.function.number()) {
		return grpcstatus.Errorf(codes.InvalidArgument, "digest function %v", fn)
	}
	return nil
}

func (f *fake) GetCapabilities(_ context.Context, r *repb.GetCapabilitiesRequest) (*repb.ServerCapabilities, error) {
	if r.InstanceName != f.instance {
		return nil, grpcstatus.Errorf(codes.InvalidArgument, "instance %q", r.InstanceName)
	}
	c := &repb.CacheCapabilities{
		DigestFunctions:               []repb.DigestFunction_Value{repb.DigestFunction_SHA1, repb.DigestFunction_Value(f.function.number())},
		MaxBatchTotalSizeBytes:        f.maxBatch,
		MaxCasBlobSizeBytes:           f.maxBlob,
		ActionCacheUpdateCapabilities: &repb.ActionCacheUpdateCapabilities{UpdateEnabled: true},
	}
	if f.zstd {
		c.SupportedCompressors = []repb.Compressor_Value{repb.Compressor_DEFLATE, repb.Compressor_ZSTD}
		c.SupportedBatchUpdateCompressors = c.SupportedCompressors
	}
	all := &repb.ServerCapabilities{CacheCapabilities: c}
	if f.caps != nil {
		f.caps(all)
	}
	return all, nil
}

func (f *fake) GetActionResult(_ context.Context, r *repb.GetActionResultRequest) (*repb.ActionResult, error) {
	if err := f.expect(r.InstanceName, r.DigestFunction); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if result := f.results[name(r.ActionDigest)]; result != nil {
		return result, nil
	}
	return nil, grpcstatus.Error(codes.NotFound, "no such action")
}

func (f *fake) UpdateActionResult(_ context.Context, r *repb.UpdateActionResultRequest) (*repb.ActionResult, error) {
	if err := f.expect(r.InstanceName, r.DigestFunction); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.results[name(r.ActionDigest)] = r.ActionResult
	return r.ActionResult, nil
}

func (f *fake) FindMissingBlobs(_ context.Context, r *repb.FindMissingBlobsRequest) (*repb.FindMissingBlobsResponse, error) {
	if err := f.expect(r.InstanceName, r.DigestFunction); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	res := &repb.FindMissingBlobsResponse{}
	for _, d := range r.BlobDigests {
		if _, ok := f.blobs[name(d)]; !ok {
			res.MissingBlobDigests = append(res.MissingBlobDigests, d)
		}
	}
	return res, nil
}

// blob returns what the server says that a blob is.
func (f *fake) blob(d *repb.Digest) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	data, ok := f.blobs[name(d)]
	if !ok {
		return nil, grpcstatus.Errorf(codes.NotFound, "no blob %s", name(d))
	}
	if f.serve != nil {
		return f.serve(d, data)
	}
	return data, nil
}

func (f *fake) BatchReadBlobs(_ context.Context, r *repb.BatchReadBlobsRequest) (*repb.BatchReadBlobsResponse, error) {
	if err := f.expect(r.InstanceName, r.DigestFunction); err != nil {
		return nil, err
	}
	res := &repb.BatchReadBlobsResponse{}
	for _, d := range r.Digests {
		data, err := f.blob(d)
		one := &repb.BatchReadBlobsResponse_Response{Digest: d, Data: data, Status: grpcstatus.Convert(err).Proto()}
		if slices.Contains(r.AcceptableCompressors, repb.Compressor_ZSTD) && err == nil {
			one.Data, one.Compressor = deflate(data), repb.Compressor_ZSTD
		}
		res.Responses = append(res.Responses, one)
	}
	slices.Reverse(res.Responses) // any order will do
	return res, nil
}

func (f *fake) store(d *repb.Digest, compressor repb.Compressor_Value, data []byte) (err error) {
	if compressor == repb.Compressor_ZSTD {
		if data, err = inflate(data); err != nil {
			return grpcstatus.Error(codes.InvalidArgument, err.Error())
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if text(f.function.sum(data)) != name(d) {
		return grpcstatus.Errorf(codes.InvalidArgument, "these are the bytes of %s", text(f.function.sum(data)))
	}
	f.blobs[name(d)] = data
	return nil
}

func (f *fake) BatchUpdateBlobs(_ context.Context, r *repb.BatchUpdateBlobsRequest) (*repb.BatchUpdateBlobsResponse, error) {
	if err := f.expect(r.InstanceName, r.DigestFunction); err != nil {
		return nil, err
	}
	res, sum := &repb.BatchUpdateBlobsResponse{}, int64(0)
	for _, q := range r.Requests {
		sum += int64(len(q.Data))
		res.Responses = append(res.Responses, &repb.BatchUpdateBlobsResponse_Response{Digest: q.Digest, Status: grpcstatus.Convert(f.store(q.Digest, q.Compressor, q.Data)).Proto()})
	}
	if f.maxBatch > 0 && sum > f.maxBatch {
		return nil, grpcstatus.Errorf(codes.InvalidArgument, "a batch of %d bytes", sum)
	}
	return res, nil
}

// parse reads the name of a resource.
func (f *fake) parse(resource string) (d *repb.Digest, compressor repb.Compressor_Value, err error) {
	rest, ok := strings.CutPrefix(resource, f.instance)
	parts := strings.Split(strings.TrimPrefix(rest, "/"), "/")
	if len(parts) > 2 && parts[0] == "uploads" {
		parts = parts[2:]
	}
	if len(parts) > 1 && parts[0] == "compressed-blobs" && parts[1] == "zstd" {
		compressor, parts = repb.Compressor_ZSTD, append([]string{"blobs"}, parts[2:]...)
	}
	if f.function == BLAKE3 && len(parts) > 1 && parts[1] == "blake3" {
		parts = append(parts[:1], parts[2:]...)
	}
	if !ok || len(parts) != 3 || parts[0] != "blobs" || len(parts[1]) != 64 {
		return nil, 0, grpcstatus.Errorf(codes.InvalidArgument, "resource %q", resource)
	}
	size, err := strconv.ParseInt(parts[2], 10, 64)
	return &repb.Digest{Hash: parts[1], SizeBytes: size}, compressor, err
}

func (f *fake) Read(r *bytestream.ReadRequest, s bytestream.ByteStream_ReadServer) error {
	if f.read != nil && f.read(r, s) {
		return nil
	}
	d, compressor, err := f.parse(r.ResourceName)
	if err != nil {
		return err
	}
	data, err := f.blob(d)
	if err != nil {
		return err
	}
	data = data[min(r.ReadOffset, int64(len(data))):]
	if compressor == repb.Compressor_ZSTD {
		data = deflate(data)
	}
	for part := range slices.Chunk(data, 50_000) {
		if err := s.Send(&bytestream.ReadResponse{Data: part}); err != nil {
			return err
		}
	}
	return nil
}

func (f *fake) Write(s bytestream.ByteStream_WriteServer) error {
	resource := ""
	for {
		r, err := s.Recv()
		if err != nil {
			return err
		}
		if resource == "" {
			if resource = r.ResourceName; !strings.Contains(resource, "uploads/") {
				return grpcstatus.Errorf(codes.InvalidArgument, "resource %q", resource)
			}
		}
		d, compressor, err := f.parse(resource)
		if err != nil {
			return err
		}
		f.mu.Lock()
		if _, ok := f.blobs[name(d)]; ok {
			f.mu.Unlock()
			size := d.SizeBytes
			if compressor == repb.Compressor_ZSTD {
				size = -1
			}
			return s.SendAndClose(&bytestream.WriteResponse{CommittedSize: size})
		}
		at := int64(len(f.uploads[resource]))
		if r.WriteOffset != at {
			f.mu.Unlock()
			return grpcstatus.Errorf(codes.InvalidArgument, "offset %d, expected %d", r.WriteOffset, at)
		}
		f.uploads[resource] = append(f.uploads[resource], r.Data...)
		f.got[resource] += int64(len(r.Data))
		data := f.uploads[resource]
		f.mu.Unlock()
		if f.written != nil {
			if err := f.written(resource, int64(len(data))); err != nil {
				return err
			}
		}
		if !r.FinishWrite {
			continue
		}
		if err := f.store(d, compressor, data); err != nil {
			return err
		}
		return s.SendAndClose(&bytestream.WriteResponse{CommittedSize: int64(len(data))})
	}
}

func (f *fake) QueryWriteStatus(_ context.Context, r *bytestream.QueryWriteStatusRequest) (*bytestream.QueryWriteStatusResponse, error) {
	d, _, err := f.parse(r.ResourceName)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.blobs[name(d)]; ok {
		return &bytestream.QueryWriteStatusResponse{CommittedSize: d.SizeBytes, Complete: true}, nil
	}
	if data, ok := f.uploads[r.ResourceName]; ok {
		return &bytestream.QueryWriteStatusResponse{CommittedSize: int64(len(data))}, nil
	}
	return nil, grpcstatus.Error(codes.NotFound, "no such upload")
}

// resources returns how many bytes came for each upload.
func (f *fake) resources() map[string]int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.got)
}

func deflate(data []byte) []byte {
	e, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	defer e.Close()
	return e.EncodeAll(data, nil)
}

func inflate(data []byte) ([]byte, error) {
	d, err := zstd.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return io.ReadAll(d)
}
