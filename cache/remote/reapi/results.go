package reapi

import (
	"bytes"
	"context"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bentobuild/bento/cache/remote"
)

// Parallel returns how many calls are worth having under way at once: they share connections.
func (c *Client) Parallel() int { return 256 }

// Result returns the encoded ActionResult of an action, or remote.ErrMiss.
func (c *Client) Result(ctx context.Context, action remote.Digest) ([]byte, error) {
	if _, err := c.capabilities(ctx); err != nil {
		return nil, err
	}
	b := appendBytes(newFrame(128+len(c.instance)), 1, c.instance)
	b = appendDigest(b, 2, action)
	b = appendNumber(b, 6, c.function.number())
	result, err := c.call(ctx, getResult, b)
	if err != nil {
		return nil, err
	}
	if len(result) > remote.MaxResult {
		return nil, c.fault(getResult, fmt.Errorf("a result of %d bytes, expected at most %d", len(result), remote.MaxResult))
	}
	return result, nil
}

// PutResult stores an encoded ActionResult.
func (c *Client) PutResult(ctx context.Context, action remote.Digest, result []byte) error {
	if len(result) > remote.MaxResult {
		return fmt.Errorf("a result of %d bytes, expected at most %d: %w", len(result), remote.MaxResult, remote.ErrFull)
	}
	if _, err := c.capabilities(ctx); err != nil {
		return err
	}
	b := appendBytes(newFrame(128+len(c.instance)+len(result)), 1, c.instance)
	b = appendDigest(b, 2, action)
	b = appendMessage(b, 3, result)
	b = appendNumber(b, 5, c.function.number())
	_, err := c.call(ctx, putResult, b)
	return err
}

// maxAsked is the number of digests of one question, which is about 750 kB long.
const maxAsked = 10_000

// Missing returns those of the digests that the server does not have.
func (c *Client) Missing(ctx context.Context, digests []remote.Digest) (missing []remote.Digest, err error) {
	if len(digests) == 0 {
		return nil, nil
	}
	if _, err := c.capabilities(ctx); err != nil {
		return nil, err
	}
	for len(digests) > 0 {
		n := min(len(digests), maxAsked)
		if missing, err = c.missing(ctx, digests[:n], missing); err != nil {
			return nil, err
		}
		digests = digests[n:]
	}
	return missing, nil
}

// missing appends the missing digests to list.
func (c *Client) missing(ctx context.Context, digests, list []remote.Digest) ([]remote.Digest, error) {
	b := appendBytes(newFrame(len(digests)*96), 1, c.instance)
	asked := make(map[remote.Digest]bool, len(digests))
	for _, d := range digests {
		if !asked[d] {
			asked[d] = true
			b = appendDigest(b, 2, d)
		}
	}
	reply, err := c.call(ctx, findMissing, appendNumber(b, 3, c.function.number()))
	if err != nil {
		return nil, err
	}
	err = fields(reply, func(f field) error {
		if !f.is(2, protowire.BytesType) {
			return nil
		}
		d, err := decodeDigest(f.data)
		switch {
		case err != nil:
			return err
		case !asked[d]:
			return fmt.Errorf("the server lacks %s, which was not asked for, or says so twice", text(d))
		}
		delete(asked, d)
		list = append(list, d)
		return nil
	})
	if err != nil {
		return nil, c.fault(findMissing, err)
	}
	return list, nil
}

// isEmpty reports whether a digest is that of no bytes, which every server has.
func (c *Client) isEmpty(d remote.Digest) bool {
	if d.Size != 0 {
		return false
	}
	empty := c.function.sum(nil)
	return bytes.Equal(d.Hash[:], empty.Hash[:])
}
