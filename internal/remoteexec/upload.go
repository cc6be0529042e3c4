package remoteexec

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/reapi"
)

// upload sends the blobs of an action that the server lacks. It does not ask again for those that the server had in this run,
// unless all is set: a server may forget them.
func (c *Cluster) upload(ctx context.Context, client *reapi.Client, a *wired, all bool) error {
	asked := c.absent(a, all)
	missing, err := client.Missing(ctx, asked)
	if err != nil {
		return err
	}
	err = client.Send(ctx, missing, func(d remote.Digest) (io.ReadSeekCloser, error) { return c.open(a.blobs[d]) }, func(remote.Digest) {})
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
func (c *Cluster) open(s source) (io.ReadSeekCloser, error) {
	if s.file == "" {
		return unclosed{bytes.NewReader(s.data)}, nil
	}
	return os.OpenFile(filepath.Join(c.o.Root, filepath.FromSlash(s.file)), os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

type unclosed struct{ io.ReadSeeker }

func (unclosed) Close() error { return nil }
