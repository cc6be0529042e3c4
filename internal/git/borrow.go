package git

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Borrow makes a repository in dir, a directory without one, that has the commits, tags and index of r. It shares the
// objects of r and copies no file of the work tree. It starts git only to ask for the commit.
func (r *Repo) Borrow(ctx context.Context, dir string) error {
	at := filepath.Join(dir, ".git")
	for _, sub := range []string{"objects/info", "refs/heads", "refs/tags", "info"} {
		if err := os.MkdirAll(filepath.Join(at, filepath.FromSlash(sub)), 0o755); err != nil {
			return err
		}
	}
	head, err := r.commit(ctx, "HEAD")
	if err != nil {
		head = "" // without a commit
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
	if len(head) == 64 {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = sha256\n"
	}
	name := head
	if text, err := readSmall(filepath.Join(r.dir, "HEAD")); err == nil || head == "" {
		name = strings.TrimSpace(text)
	}
	files := map[string]string{"config": config, "HEAD": name + "\n", "objects/info/alternates": filepath.Join(r.common, "objects") + "\n"}
	if ref, branch := strings.CutPrefix(name, "ref: "); branch && head != "" && filepath.IsLocal(ref) {
		files[ref] = head + "\n"
	}
	for name, text := range files {
		name = filepath.Join(at, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return errors.Join(
		copyFile(filepath.Join(r.dir, "index"), filepath.Join(at, "index")), copyFile(filepath.Join(r.common, "info", "exclude"), filepath.Join(at, "info", "exclude")),
		copyFile(filepath.Join(r.common, "packed-refs"), filepath.Join(at, "packed-refs")), copyFile(filepath.Join(r.common, "shallow"), filepath.Join(at, "shallow")),
		copyTags(filepath.Join(r.common, "refs", "tags"), filepath.Join(at, "refs", "tags")),
	)
}

// maxHead is the largest size of HEAD in bytes.
const maxHead = 4 << 10

func readSmall(name string) (string, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxHead))
	return string(text), err
}

// copyTags copies the loose tags.
func copyTags(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(from, path)
		switch {
		case err != nil || relErr != nil:
			return nil
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		return copyFile(path, filepath.Join(to, rel))
	})
}

// copyFile copies a file that may be missing.
func copyFile(from, to string) error {
	in, err := os.OpenFile(from, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
