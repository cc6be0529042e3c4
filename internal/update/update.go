// Package update finds the released versions of bento and replaces a program by one of them. It asks the network
// only when it is called: bento never looks for versions by itself.
package update

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/pattern"
)

// Source is where released versions are: a directory vVERSION with archives and SHA256SUMS for each, and beside it
// latest/download/ with the SHA256SUMS of the newest, as GitHub has it.
type Source struct {
	URL string // of the directory with the versions; "" means the releases of the project
}

const (
	published = "https://github.com/bentobuild/bento/releases/download"
	sumsFile  = "SHA256SUMS"
	maxSums   = 1 << 20   // bytes
	maxFile   = 256 << 20 // bytes, of an archive or of the program in it
	patience  = 10 * time.Minute
)

// archiveName matches the name of an archive in SHA256SUMS.
var archiveName = pattern.New(`^bento-([0-9]+\.[0-9]+\.[0-9]+)-[a-z]+-[a-z0-9]+\.tar\.gz$`)

// base returns the URL of the versions. Without TLS it must be on this machine.
func (s Source) base() (*url.URL, error) {
	text := strings.TrimSuffix(s.URL, "/")
	if text == "" {
		text = published
	}
	u, err := url.Parse(text)
	if err == nil && u.Host == "" {
		err = errors.New("it has no host")
	}
	if err == nil && u.Scheme != "https" && !(u.Scheme == "http" && loopback(u.Hostname())) {
		err = errors.New("expected https://, or http:// on this machine")
	}
	if err != nil {
		return nil, fmt.Errorf("the address of releases %q: %w", text, err)
	}
	return u, nil
}

func loopback(host string) bool { return host == "localhost" || net.ParseIP(host).IsLoopback() }

// Newest returns the newest released version, without v.
func (s Source) Newest(ctx context.Context) (string, error) {
	base, err := s.base()
	if err != nil {
		return "", err
	}
	at := *base
	at.Path = path.Join(path.Dir(at.Path), "latest/download", sumsFile)
	sums, err := get(ctx, &at, maxSums)
	if err != nil {
		return "", err
	}
	for _, name := range checksums(sums) {
		if m := archiveName.FindStringSubmatch(name.file); m != nil {
			return m[1], nil
		}
	}
	return "", fmt.Errorf("%s lists no archive of bento", at.String())
}

// Install puts the program of a version in the place of the file at program. It compares the checksum first, and
// the file is the old one or the new one at any time.
func (s Source) Install(ctx context.Context, version, program string) error {
	base, err := s.base()
	if err != nil {
		return err
	}
	dir := base.JoinPath("v" + version)
	sums, err := get(ctx, dir.JoinPath(sumsFile), maxSums)
	if err != nil {
		return err
	}
	name := "bento-" + version + "-" + runtime.GOOS + "-" + runtime.GOARCH
	want := ""
	for _, sum := range checksums(sums) {
		if sum.file == name+".tar.gz" {
			want = sum.sha256
		}
	}
	if want == "" {
		return fmt.Errorf("bento %s has no archive for %s on %s", version, runtime.GOOS, runtime.GOARCH)
	}
	archive, err := get(ctx, dir.JoinPath(name+".tar.gz"), maxFile)
	if err != nil {
		return err
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(archive)); got != want {
		return fmt.Errorf("%s.tar.gz has the checksum %s, %s says %s: nothing was changed", name, got, sumsFile, want)
	}
	data, err := programOf(archive, name+"/bento")
	if err != nil {
		return fmt.Errorf("%s.tar.gz: %w", name, err)
	}
	return replace(program, data)
}

type checksum struct{ sha256, file string }

// checksums reads the lines of SHA256SUMS.
func checksums(text []byte) (list []checksum) {
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if sum, file, ok := strings.Cut(lines.Text(), "  "); ok && len(sum) == 2*sha256.Size {
			list = append(list, checksum{sum, file})
		}
	}
	return list
}

// get downloads at most limit bytes.
func get(ctx context.Context, u *url.URL, limit int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err // it names the address
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", u, resp.Status)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u, err)
	}
	return data, nil
}

// programOf returns a file of an archive.
func programOf(archive []byte, name string) ([]byte, error) {
	zr, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	for r := tar.NewReader(zr); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("it has no file %s", name)
		}
		if err != nil {
			return nil, err
		}
		if h.Name != name || h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
		if err == nil && len(data) > maxFile {
			err = fmt.Errorf("%s has more than %d bytes", name, maxFile)
		}
		return data, err
	}
}

// replace writes data beside the file at path, and renames it.
func replace(path string, data []byte) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), ".bento-update-")
	if err != nil {
		return fmt.Errorf("%s cannot be replaced: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp.Name())
		}
	}()
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Chmod(0o755), temp.Sync(), temp.Close())
	if err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
