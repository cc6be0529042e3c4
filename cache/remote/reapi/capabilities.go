package reapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	// maxBatch is the bound of the blobs of a batch, in bytes: gRPC's of a message, less what is around them.
	maxBatch  = 4<<20 - 64<<10
	batchItem = 256 // bytes around a blob in a batch, at most
	zstdID    = 1   // the number of zstd in the API
)

// capabilities are what a server can do.
type capabilities struct {
	functions []uint64 // numbers of digest functions; none: those of the server are unknown
	batch     int64    // the sum of the sizes of a batch's blobs
	blob      int64    // the largest blob, 0 for any
	updates   bool     // results may be stored, says the server
	zstd      bool     // compressed blobs are read, and written one by one
	zstdBatch bool     // compressed blobs are written in batches
	executes  bool     // actions are executed
	low, high version
}

// version is a version of the API.
type version struct{ major, minor uint64 }

func (v version) String() string { return fmt.Sprintf("%d.%d", v.major, v.minor) }

// asking is a question for the capabilities that is under way.
type asking struct {
	done  chan struct{} // closed when the rest is set
	known *capabilities
	err   error
	left  bool // the one who asked did not wait for the answer
}

// capabilities returns what the server can do. One caller asks, and all who need it meanwhile have its answer.
func (c *Client) capabilities(ctx context.Context) (*capabilities, error) {
	for {
		c.mu.Lock()
		known, a := c.known, c.asking
		first := known == nil && a == nil
		if first {
			a = &asking{done: make(chan struct{})}
			c.asking = a
		}
		c.mu.Unlock()
		switch {
		case known != nil:
			return known, nil
		case first:
			a.known, a.err = c.askCapabilities(ctx)
			a.left = ctx.Err() != nil
			c.mu.Lock()
			c.known, c.asking = a.known, nil
			c.mu.Unlock()
			close(a.done)
			return a.known, a.err
		}
		select {
		case <-a.done:
			if !a.left || a.err == nil {
				return a.known, a.err
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (c *Client) askCapabilities(ctx context.Context) (*capabilities, error) {
	reply, err := c.call(ctx, getCapabilities, appendBytes(newFrame(len(c.instance)+8), 1, c.instance))
	if err != nil {
		return nil, withPortAdvice(err)
	}
	known, err := decodeCapabilities(reply)
	if err == nil {
		err = known.check(c.function)
	}
	if err != nil {
		return nil, c.fault(getCapabilities, err)
	}
	return known, nil
}

// withPortAdvice adds to the error of a first call what it may mean that connections are made and end at once: a server of
// HTTP/1 may close one before its answer, which would tell, was read.
func withPortAdvice(err error) error {
	if dial, ok := errors.AsType[*net.OpError](err); !isCut(err) || ok && dial.Op == "dial" {
		return err
	}
	return fmt.Errorf("%w; check the port: the server may not speak gRPC at this one", err)
}

// Describe asks the server what it can do, and returns that for people.
func (c *Client) Describe(ctx context.Context) (string, error) {
	k, err := c.capabilities(ctx)
	if err != nil {
		return "", err
	}
	parts := []string{"Remote Execution API"}
	if k.high != (version{}) {
		parts[0] += fmt.Sprintf(" %v to %v", k.low, k.high)
	}
	switch {
	case k.zstd && k.zstdBatch:
		parts = append(parts, "zstd")
	case k.zstd:
		parts = append(parts, "zstd for streams alone")
	default:
		parts = append(parts, "no compression")
	}
	if k.blob > 0 && k.blob < 1<<50 { // more is no limit
		parts = append(parts, fmt.Sprintf("blobs of at most %d bytes", k.blob))
	}
	if !k.updates {
		parts = append(parts, "results cannot be stored")
	}
	return strings.Join(parts, ", "), nil
}

// check reports a server that this client cannot use.
func (k *capabilities) check(f Function) error {
	if k.low.major > 2 || k.high.major != 0 && k.high.major < 2 {
		return fmt.Errorf("the server has the versions %v to %v of the Remote Execution API, required is 2", k.low, k.high)
	}
	for _, n := range k.functions {
		if n == f.number() {
			return nil
		}
	}
	if len(k.functions) == 0 {
		return nil
	}
	var names []string
	for _, n := range k.functions {
		names = append(names, functionName(n))
	}
	return fmt.Errorf("the server has the digest functions %s, required is %v", strings.Join(names, ", "), f)
}

func functionName(n uint64) string {
	names := []string{"UNKNOWN", "SHA256", "SHA1", "MD5", "VSO", "SHA384", "SHA512", "MURMUR3", "SHA256TREE", "BLAKE3", "GITSHA1"}
	if n < uint64(len(names)) {
		return names[n]
	}
	return fmt.Sprintf("number %d", n)
}

// maxListed bounds the lists of a server.
const maxListed = 100

func decodeCapabilities(message []byte) (*capabilities, error) {
	k := &capabilities{batch: maxBatch}
	err := fields(message, func(f field) (err error) {
		switch {
		case f.is(1, protowire.BytesType):
			err = k.decodeCache(f.data)
		case f.is(2, protowire.BytesType):
			err = k.decodeExecution(f.data)
		case f.is(4, protowire.BytesType):
			k.low, err = decodeVersion(f.data)
		case f.is(5, protowire.BytesType):
			k.high, err = decodeVersion(f.data)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("the capabilities: %w", err)
	}
	return k, nil
}

func (k *capabilities) decodeCache(message []byte) error {
	return fields(message, func(f field) error {
		switch f.number {
		case 1:
			return f.enums(1, func(n uint64) {
				if len(k.functions) < maxListed {
					k.functions = append(k.functions, n)
				}
			})
		case 2:
			return fields(f.data, func(f field) error {
				k.updates = k.updates || f.is(1, protowire.VarintType) && f.n != 0
				return nil
			})
		case 4:
			if n := int64(f.n); n > 0 && f.kind == protowire.VarintType {
				k.batch = min(n, maxBatch)
			}
		case 6:
			return f.enums(6, func(n uint64) { k.zstd = k.zstd || n == zstdID })
		case 7:
			return f.enums(7, func(n uint64) { k.zstdBatch = k.zstdBatch || n == zstdID })
		case 8:
			k.blob = max(0, int64(f.n))
		}
		return nil
	})
}

// decodeExecution reads ExecutionCapabilities: exec_enabled = 2.
func (k *capabilities) decodeExecution(message []byte) error {
	return fields(message, func(f field) error {
		k.executes = k.executes || f.is(2, protowire.VarintType) && f.n != 0
		return nil
	})
}

// Executes returns an error if the server executes no actions.
func (c *Client) Executes(ctx context.Context) error {
	k, err := c.capabilities(ctx)
	if err == nil && !k.executes {
		err = c.fault(getCapabilities, errors.New("the server executes no actions"))
	}
	return err
}

func decodeVersion(message []byte) (v version, err error) {
	err = fields(message, func(f field) error {
		switch {
		case f.is(1, protowire.VarintType):
			v.major = uint64(uint32(f.n))
		case f.is(2, protowire.VarintType):
			v.minor = uint64(uint32(f.n))
		}
		return nil
	})
	return v, err
}
