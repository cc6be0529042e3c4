package reapi

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	lro "cloud.google.com/go/longrunning/autogen/longrunningpb"
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	rpc "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/bentobuild/bento/cache/remote"
)

// scheduler is an execution service that does what a test says. Each function handles one call, in their order.
type scheduler struct {
	repb.UnimplementedExecutionServer
	lro.UnimplementedOperationsServer

	calls    []func(repb.Execution_ExecuteServer) error
	canceled chan string

	mu   sync.Mutex
	seen []string // the methods, and the name of an operation
}

func (s *scheduler) next(method string, stream repb.Execution_ExecuteServer) error {
	s.mu.Lock()
	s.seen = append(s.seen, method)
	if len(s.calls) == 0 {
		s.mu.Unlock()
		return grpcstatus.Error(codes.Internal, "nothing follows")
	}
	do := s.calls[0]
	s.calls = s.calls[1:]
	s.mu.Unlock()
	return do(stream)
}

// saw returns what was called.
func (s *scheduler) saw() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

func (s *scheduler) Execute(r *repb.ExecuteRequest, stream repb.Execution_ExecuteServer) error {
	method := "Execute"
	if r.SkipCacheLookup {
		method += " fresh"
	}
	return s.next(method, stream)
}

func (s *scheduler) WaitExecution(r *repb.WaitExecutionRequest, stream repb.Execution_WaitExecutionServer) error {
	return s.next("Wait "+r.Name, stream)
}

func (s *scheduler) CancelOperation(_ context.Context, r *lro.CancelOperationRequest) (*emptypb.Empty, error) {
	s.canceled <- r.Name
	return &emptypb.Empty{}, nil
}

// scheduled starts a fake with an execution service, and returns its client.
func scheduled(t *testing.T, set func(*Options), calls ...func(repb.Execution_ExecuteServer) error) (*Client, *scheduler) {
	t.Helper()
	s := &scheduler{calls: calls, canceled: make(chan string, 1)}
	f := &fake{more: func(server *grpc.Server) {
		repb.RegisterExecutionServer(server, s)
		lro.RegisterOperationsServer(server, s)
	}}
	return client(t, f.start(t), set), s
}

var action = remote.Sum([]byte("action"))

func packed(m proto.Message) *anypb.Any {
	a, err := anypb.New(m)
	if err != nil {
		panic(err)
	}
	return a
}

// at sends an operation at a stage.
func at(stream repb.Execution_ExecuteServer, stage repb.ExecutionStage_Value, of remote.Digest) error {
	return stream.Send(&lro.Operation{Name: "op/1", Metadata: packed(&repb.ExecuteOperationMetadata{Stage: stage, ActionDigest: digestOf(of)})})
}

// end sends the end of an operation.
func end(stream repb.Execution_ExecuteServer, r *repb.ExecuteResponse) error {
	return stream.Send(&lro.Operation{Name: "op/1", Done: true, Result: &lro.Operation_Response{Response: packed(r)}})
}

func good(stream repb.Execution_ExecuteServer) error {
	return end(stream, &repb.ExecuteResponse{Result: &repb.ActionResult{ExitCode: 7}, CachedResult: true})
}

func ignore(*Options) {}

// TestExecute: the stages and the end of an execution arrive.
func TestExecute(t *testing.T) {
	t.Parallel()
	c, s := scheduled(t, ignore, func(stream repb.Execution_ExecuteServer) error {
		for _, stage := range []repb.ExecutionStage_Value{1, 2, 3} {
			if err := at(stream, stage, action); err != nil {
				return err
			}
		}
		return good(stream)
	})
	var stages []Stage
	got, err := c.Execute(t.Context(), action, true, func(s Stage) { stages = append(stages, s) })
	if err != nil || got.Code != OK || !got.Cached || got.Result.ExitCode != 7 || len(stages) != 3 || stages[1] != Queued || s.saw()[0] != "Execute fresh" {
		t.Errorf("%+v, %v, stages %v, %v", got, err, stages, s.saw())
	}
}

// TestExecuteFaults: errors of a server are those of the call, and streams that break are taken up again.
func TestExecuteFaults(t *testing.T) {
	t.Parallel()
	breaks := func(stream repb.Execution_ExecuteServer) error {
		if err := at(stream, 3, action); err != nil {
			return err
		}
		return grpcstatus.Error(codes.Unavailable, "restart")
	}
	for name, c := range map[string]struct {
		calls []func(repb.Execution_ExecuteServer) error
		seen  []string
		err   string // "" for the end of good
	}{
		"breaks":           {[]func(repb.Execution_ExecuteServer) error{breaks, breaks, good}, []string{"Execute", "Wait op/1", "Wait op/1"}, ""},
		"breaks each time": {[]func(repb.Execution_ExecuteServer) error{failing(codes.Unavailable), failing(codes.Unavailable), failing(codes.Unavailable), good}, []string{"Execute", "Execute", "Execute"}, "UNAVAILABLE"},
		"forgets":          {[]func(repb.Execution_ExecuteServer) error{breaks, failing(codes.NotFound), good}, []string{"Execute", "Wait op/1", "Execute"}, ""},
		"forgets twice":    {[]func(repb.Execution_ExecuteServer) error{breaks, failing(codes.NotFound), breaks, failing(codes.NotFound), good}, []string{"Execute", "Wait op/1", "Execute", "Wait op/1"}, "NOT_FOUND"},
		"refuses":          {[]func(repb.Execution_ExecuteServer) error{failing(codes.FailedPrecondition)}, []string{"Execute"}, "FAILED_PRECONDITION"},
		"ends too early":   {[]func(repb.Execution_ExecuteServer) error{func(stream repb.Execution_ExecuteServer) error { return at(stream, 3, action) }, good}, []string{"Execute", "Wait op/1"}, ""},
		"another action":   {[]func(repb.Execution_ExecuteServer) error{func(stream repb.Execution_ExecuteServer) error { return at(stream, 3, remote.Sum(nil)) }}, []string{"Execute"}, "expected"},
		"no result":        {[]func(repb.Execution_ExecuteServer) error{func(stream repb.Execution_ExecuteServer) error { return end(stream, &repb.ExecuteResponse{}) }}, []string{"Execute"}, "without a result"},
		"another response": {[]func(repb.Execution_ExecuteServer) error{func(stream repb.Execution_ExecuteServer) error {
			return stream.Send(&lro.Operation{Done: true, Result: &lro.Operation_Response{Response: packed(&repb.ActionResult{})}})
		}}, []string{"Execute"}, "expected ExecuteResponse"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, s := scheduled(t, ignore, c.calls...)
			got, err := client.Execute(t.Context(), action, false, func(Stage) {})
			if c.err != "" {
				contains(t, err, c.err)
			} else if err != nil || got.Result.ExitCode != 7 {
				t.Errorf("%+v, %v", got, err)
			}
			if seen := s.saw(); !slices.Equal(seen, c.seen) {
				t.Errorf("calls %q, want %q", seen, c.seen)
			}
		})
	}
}

func failing(code codes.Code) func(repb.Execution_ExecuteServer) error {
	return func(repb.Execution_ExecuteServer) error { return grpcstatus.Error(code, "text") }
}

// TestExecuteStatus: the status of a response is its code, and an operation's error as well.
func TestExecuteStatus(t *testing.T) {
	t.Parallel()
	for _, send := range []func(repb.Execution_ExecuteServer) error{
		func(s repb.Execution_ExecuteServer) error {
			return end(s, &repb.ExecuteResponse{Status: &rpc.Status{Code: 13, Message: "gone"}})
		},
		func(s repb.Execution_ExecuteServer) error {
			return s.Send(&lro.Operation{Done: true, Result: &lro.Operation_Error{Error: &rpc.Status{Code: 13, Message: "gone"}}})
		},
	} {
		c, _ := scheduled(t, ignore, send)
		if got, err := c.Execute(t.Context(), action, false, func(Stage) {}); err != nil || got.Code != Internal || got.Text != "gone" {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

// TestExecuteSilence: a server that has nothing to say, and is alive, is waited for.
func TestExecuteSilence(t *testing.T) {
	t.Parallel()
	silent := func(stream repb.Execution_ExecuteServer) error {
		if err := at(stream, 3, action); err != nil {
			return err
		}
		<-stream.Context().Done()
		return stream.Context().Err()
	}
	mute := func(stream repb.Execution_ExecuteServer) error {
		<-stream.Context().Done()
		return stream.Context().Err()
	}
	calls := append([]func(repb.Execution_ExecuteServer) error{silent, mute, mute, mute}, slices.Repeat([]func(repb.Execution_ExecuteServer) error{good}, 100)...) // a good one may come too late
	c, s := scheduled(t, func(o *Options) { o.Quiet = time.Second }, calls...)
	if got, err := c.Execute(t.Context(), action, false, func(Stage) {}); err != nil || got.Result.ExitCode != 7 || len(s.saw()) < 5 {
		t.Errorf("%+v, %v, %v", got, err, s.saw())
	}
}

// TestExecuteCanceled: the end of the context cancels the execution at the server, also one that has not been named yet.
func TestExecuteCanceled(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]bool{"running": true, "unnamed": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			ended := errors.New("ended")
			begun := make(chan struct{})
			c, s := scheduled(t, ignore, func(stream repb.Execution_ExecuteServer) error {
				if !first {
					cancel(ended)
				}
				if err := at(stream, 3, action); err != nil {
					return err
				}
				close(begun)
				<-stream.Context().Done()
				return nil
			})
			_, err := c.Execute(ctx, action, false, func(Stage) {
				if first {
					cancel(ended)
				}
			})
			if <-begun; err != ended {
				t.Errorf("%v", err)
			}
			if name := <-s.canceled; name != "op/1" {
				t.Errorf("canceled %q", name)
			}
		})
	}
}
