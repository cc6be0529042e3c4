package manifest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/bentobuild/bento/diagnostics"
)

// Found is an extension on disk. Both paths are absolute if the directory is.
type Found struct {
	Dir        string
	Executable string
	Manifest   *Manifest
}

// Read reads the extension in a directory. It returns nil if the manifest is missing or has an error.
func Read(dir string) (*Found, []diagnostics.Diagnostic) {
	path := filepath.Join(dir, File)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, problem(path, err)
	}
	defer root.Close()
	data, err := content(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, problem(path, err)
	}
	m, problems := Parse(path, data)
	if m == nil {
		return nil, problems
	}
	at := diagnostics.Pos{File: path}
	if base := filepath.Base(dir); base != m.Plugin.Name {
		return nil, append(problems, at.Error(RuleName, "plugin.name is %q and the directory %q, required the same name", m.Plugin.Name, base))
	}
	if err := runnable(root, m.Plugin.Name); err != nil {
		return nil, append(problems, at.Error(RuleExecutable, "the executable %q of the extension: %v", m.Plugin.Name, err))
	}
	return &Found{Dir: dir, Executable: filepath.Join(dir, m.Plugin.Name), Manifest: m}, problems
}

func problem(path string, err error) []diagnostics.Diagnostic {
	return []diagnostics.Diagnostic{diagnostics.Pos{File: path}.Error(RuleExecutable, "the manifest cannot be read: %v", err)}
}

// content returns the manifest. It follows no link out of the directory, and waits for no pipe.
func content(root *os.Root) ([]byte, error) {
	f, err := root.OpenFile(File, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, or(err, "it is not a regular file")
	}
	return io.ReadAll(io.LimitReader(f, MaxSize+1)) // Parse reports a larger one
}

// runnable returns why a file cannot be executed.
func runnable(root *os.Root, name string) error {
	info, err := root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("not found beside the manifest; build it, or check plugin.name")
	}
	if err != nil || !info.Mode().IsRegular() {
		return or(err, "it is not a regular file")
	}
	if info.Mode().Perm()&0o111 == 0 {
		return fmt.Errorf("it has the mode %v, required one that may be executed (chmod +x)", info.Mode().Perm())
	}
	return nil
}

func or(err error, otherwise string) error {
	if err != nil {
		return err
	}
	return errors.New(otherwise)
}
