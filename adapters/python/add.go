package python

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/environment"
	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/adapters/python/requirements"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// Add runs `poetry add`. Pip has no command for it: for pip, Add writes the packages into
// pyproject.toml or the file of requirements, and changes nothing else in it. The next
// install installs them.
func (a *Adapter) Add(ctx context.Context, req adapters.AddRequest, log adapters.LogFunc) error {
	p, err := open(a.Now().Files(req.DishDir))
	if err != nil {
		return err
	}
	if p.poetry {
		args := []string{"poetry", "add", "--lock", "--no-interaction", "--no-ansi"}
		if req.Dev {
			args = append(args, "--group", "dev")
		}
		i := environment.Installer{Leave: req.Leave(), Dir: p.dir, Env: environment.ForInstall(req.Env).With(a.manifest.SetEnv), Log: log}
		return i.Run(ctx, slices.Concat(args, []string{"--"}, req.Packages))
	}
	packages, err := p.missing(req.Packages)
	if err != nil || len(packages) == 0 {
		return err
	}
	path, err := p.write(a.Source, packages, req.Dev)
	if err == nil && log != nil {
		log(adapters.Log{Level: "info", Message: fmt.Sprintf("%s requires %s", path, strings.Join(packages, ", "))})
	}
	return err
}

// missing returns those of packages that the project does not require yet. A package that
// it requires in another way is an error.
func (p *project) missing(packages []string) ([]string, error) {
	var list []string
	normal, dev := p.asked()
	for _, text := range packages {
		r := requirements.Parse(text, p.dir)
		if r.Name == "" || strings.HasPrefix(text, "-") || strings.ContainsFunc(text, unicode.IsControl) {
			return nil, fmt.Errorf("%q is not a requirement, expected a name such as %q or %q", text, "six", "six>=1.16")
		}
		known := slices.IndexFunc(slices.Concat(normal, dev), func(o requirements.Requirement) bool { return o.Name == r.Name })
		if known < 0 {
			list = append(list, r.Text)
			continue
		}
		if o := slices.Concat(normal, dev)[known]; o.Text != r.Text {
			return nil, fmt.Errorf("%q is already required, as %q at %s:%d; change it there", r.Name, o.Text, o.File, o.Line)
		}
	}
	return list, nil
}

// write adds packages to the file in which the project keeps its requirements.
func (p *project) write(at snapshot.Source, packages []string, dev bool) (path string, err error) {
	dynamic := slices.ContainsFunc(p.List("project", "dynamic"), func(e pyproject.Entry) bool { return e.Value == "dependencies" })
	switch {
	case p.HasProject && dev:
		return p.Path, p.appendTo(at, packages, "dependency-groups", "dev")
	case p.HasProject && !dynamic:
		return p.Path, p.appendTo(at, packages, "project", "dependencies")
	case len(p.files) == 0:
		return "", &adapters.Unsupported{Adapter: "python", What: "adding packages to setup.py or setup.cfg",
			Hint: "write them there by hand, or keep them in pyproject.toml or requirements.txt"}
	}
	return p.appendLines(at, packages, dev)
}

func (p *project) appendTo(at snapshot.Source, packages []string, key ...string) error {
	for _, text := range packages {
		data, err := at.Read(p.Path)
		if err != nil {
			return err
		}
		file, problems := tomlfile.ParseManifest(p.Path, data)
		if len(problems) > 0 {
			return diagnostics.Problems(problems)
		}
		if data, err = file.Append(text, key...); err != nil {
			return fmt.Errorf("%s: %w", p.Path, err)
		}
		if err := at.Replace(p.Path, data); err != nil {
			return err
		}
	}
	return nil
}

// appendLines adds packages to the file of requirements; development packages have their
// own file.
func (p *project) appendLines(at snapshot.Source, packages []string, dev bool) (path string, err error) {
	name := "requirements.txt"
	if dev {
		name = "requirements-dev.txt"
	}
	for _, file := range p.files {
		if file.dev == dev {
			name = file.name
			break
		}
	}
	path = filepath.Join(p.dir, name)
	data, err := at.Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	if set, err := requirements.Read(at.Files(p.dir), name); err != nil {
		return path, err
	} else if set != nil && set.Hashed || bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return path, &adapters.Unsupported{Adapter: "python", What: "adding packages to a file with hashes, or in UTF-16",
			Hint: "add them to the file that " + name + " is made from, and make it again"}
	}
	end := "\n"
	if bytes.Contains(data, []byte("\r\n")) {
		end = "\r\n"
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(data, end...)
	}
	return path, at.Replace(path, append(data, strings.Join(packages, end)+end...))
}
