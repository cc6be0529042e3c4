package remoteexec

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"syscall"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/reapi"
)

// upload sends the blobs of an action that the server lacks. It does not ask again for those that the server had in this run,
// unless all is set: a server may forget them.
func (c *Cluster) upload(ctx context.Context, client *reapi.Client, a *wired, all bool) error {
	asked := c.absent(a, all)
	question := asked
	for _, in := range a.installs {
		if in.isKept() && !all {
			question = append(question, in.root)
		}
	}
	missing, err := client.Missing(ctx, question)
	if err != nil {
		return err
	}
	for _, in := range a.installs {
		if err := c.sendInstalled(ctx, client, in, all || slices.Contains(missing, in.root)); err != nil {
			return err
		}
	}
	missing = slices.DeleteFunc(missing, func(d remote.Digest) bool { _, own := a.blobs[d]; return !own })
	err = client.Send(ctx, missing, func(d remote.Digest) (io.ReadSeekCloser, error) { return open(a.blobs[d]) }, func(remote.Digest) {})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range asked {
		c.present[d] = true
	}
	return nil
}

// absent returns the blobs of an action that the server may lack.
func (c *Cluster) absent(a *wired, all bool) (list []remote.Digest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for d := range a.blobs {
		if all || !c.present[d] {
			list = append(list, d)
		}
	}
	return list
}

// open opens a blob to be sent. The server refuses one that is not what its digest says.
func open(s source) (io.ReadSeekCloser, error) {
	if s.file == "" {
		return unclosed{bytes.NewReader(s.data)}, nil
	}
	return os.OpenFile(s.file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

type unclosed struct{ io.ReadSeeker }

func (unclosed) Close() error { return nil }
