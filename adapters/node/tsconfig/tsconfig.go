// Package tsconfig reads sources and outputs of a package from the configuration of the
// TypeScript compiler.
package tsconfig

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/jsonfile"
)

// maxFiles is how many files one package's configuration may have.
const maxFiles = 64

// Config is the tsconfig.json of a package with those that it extends. A file that cannot
// be read is ignored: the compiler reports it.
type Config struct {
	Above   []string // absolute, outside the package
	Outputs []string // globs relative to the package; absolute paths outside of it that end in "/**"
	Links   []adapters.Link
}

// reader follows "extends" and "references" from file to file.
type reader struct {
	files *snapshot.Files
	dir   string
	queue []string
	out   Config
}

// Read reads the configuration of the package in f's directory.
func Read(f *snapshot.Files) Config {
	r := &reader{files: f, dir: f.Dir()}
	for _, name := range []string{"tsconfig.json", "tsconfig.build.json", "jsconfig.json"} {
		r.queue = append(r.queue, filepath.Join(r.dir, name))
	}
	for i := 0; i < len(r.queue) && i < maxFiles; i++ {
		r.read(r.queue[i])
	}
	return r.out
}

func (r *reader) read(path string) {
	data, err := r.files.ReadIfExists(path)
	if data == nil || err != nil {
		return
	}
	root, err := jsonfile.ParseLoose(path, data)
	if err != nil {
		return
	}
	if !adapters.Within(r.dir, path) {
		r.out.Above = append(r.out.Above, path)
	}
	bases := root.Get("extends").Items()
	if base := root.Get("extends"); base.Text() != "" {
		bases = append(bases, base)
	}
	for _, base := range bases {
		r.follow(path, base.Text())
	}
	r.references(path, root)
	r.outDirs(path, root)
}

// follow queues a base. A base that is a package is a dependency, not a path.
func (r *reader) follow(path, base string) {
	if !strings.HasPrefix(base, ".") && !filepath.IsAbs(base) {
		return
	}
	target := resolve(filepath.Dir(path), base)
	if !r.files.IsFile(target) {
		target += ".json"
	}
	r.add(target)
}

func (r *reader) add(path string) {
	if !slices.Contains(r.queue, path) {
		r.queue = append(r.queue, path)
	}
}

// references adds links for those that lead to other directories, and reads the others,
// which are further configurations of this package.
func (r *reader) references(path string, root *jsonfile.Value) {
	if filepath.Dir(path) != r.dir {
		return // of a base, which does not pass references on
	}
	for _, ref := range root.Get("references").Items() {
		text := ref.Get("path").Text()
		if text == "" {
			continue
		}
		target, isFile := resolve(r.dir, text), strings.HasSuffix(text, ".json")
		if isFile && filepath.Dir(target) == r.dir {
			r.add(target)
		}
		if isFile {
			target = filepath.Dir(target)
		}
		if !adapters.Within(r.dir, target) {
			r.out.Links = append(r.out.Links, adapters.Link{Dir: target, File: path, Line: ref.Line(), Loose: true})
		}
	}
}

// outDirs adds the outputs of the compiler inside the package. It leaves out a directory
// that the configuration also names as source: there the compiler writes in place.
func (r *reader) outDirs(path string, root *jsonfile.Value) {
	options := root.Get("compilerOptions")
	sources := r.sources(path, root)
	for _, key := range []string{"outDir", "declarationDir"} {
		out := r.inPackage(path, options.Get(key).Text())
		if out == "" {
			r.outside(path, options.Get(key).Text())
		}
		if isPath(out) && !slices.Contains(sources, firstPart(out)) {
			r.out.Outputs = append(r.out.Outputs, out+"/**")
		}
	}
	if info := r.inPackage(path, options.Get("tsBuildInfoFile").Text()); isPath(info) && firstPart(info) != "node_modules" {
		r.out.Outputs = append(r.out.Outputs, info+"/**") // a pattern: the build may use another tool than tsc
	}
}

// sources returns the first elements of the paths of sources.
func (r *reader) sources(path string, root *jsonfile.Value) []string {
	options := root.Get("compilerOptions")
	named := slices.Concat(root.Get("include").Items(), root.Get("files").Items(), options.Get("rootDirs").Items())
	var parts []string
	for _, v := range append(named, options.Get("rootDir")) {
		if in := r.inPackage(path, v.Text()); in != "" {
			parts = append(parts, firstPart(in))
		}
	}
	return parts
}

// inPackage returns text, a path in the file at path, relative to the package; "" when it
// is not below the package.
func (r *reader) inPackage(path, text string) string {
	text = strings.ReplaceAll(text, "${configDir}", r.dir)
	if text == "" {
		return ""
	}
	rel, err := filepath.Rel(r.dir, resolve(filepath.Dir(path), text))
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// outside adds the output text, a path in the file at path, if it lies outside of the package. It leaves out a
// directory around the package and one beside a base that the package extends: packages that share a base must not
// share outputs.
func (r *reader) outside(path, text string) {
	shared := filepath.Dir(path) != r.dir && !strings.Contains(text, "${configDir}")
	if text = strings.ReplaceAll(text, "${configDir}", r.dir); !isPath(text) || shared {
		return
	}
	out := resolve(filepath.Dir(path), text)
	if !adapters.Within(r.dir, out) && !adapters.Within(out, r.dir) && !strings.Contains(out, "/node_modules/") {
		r.out.Outputs = append(r.out.Outputs, out+"/**")
	}
}

// isPath reports whether text has no special meaning in a glob.
func isPath(text string) bool { return text != "" && !strings.ContainsAny(text, `*?[]{}\!`) }

func firstPart(rel string) string {
	first, _, _ := strings.Cut(rel, "/")
	return first
}

func resolve(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, filepath.FromSlash(path))
}
