package remoteexec

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/reapi"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/key"
)

// The directories of an input root. Where that is the root of the file system, they are those of a container.
const (
	workspaceDir = "bento/w"
	homeDir      = "bento/home"
	tempDir      = "tmp"
	movedDir     = "bento/moved" // outputs that servers would not take at their places, by their paths
)

// wired is an action with its blobs, by their digests on the wire.
type wired struct {
	digest   remote.Digest
	blobs    map[remote.Digest]source
	installs []*installed // whose blobs are not among blobs
}

// source is where a blob is.
type source struct {
	data []byte
	file string // absolute, in place of data
}

func (w *wired) add(data []byte) remote.Digest {
	d := remote.Sum(data)
	w.blobs[d] = source{data: data}
	return d
}

// action returns the action of a command.
func (x *Executor) action(ctx context.Context, c *action.Command) (*wired, error) {
	w := &wired{blobs: make(map[remote.Digest]source)}
	t := &directory{}
	for _, dir := range []string{homeDir, tempDir, movedDir} {
		t.enterAll(dir)
	}
	at, err := x.inside(c.Dir)
	if err != nil {
		return nil, err
	}
	t.enterAll(path.Join(workspaceDir, at))
	for f := range c.Inputs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := x.addInput(w, t, f); err != nil {
			return nil, err
		}
	}
	needs, err := x.install(ctx, w, t)
	if err != nil {
		return nil, err
	}
	var image adapters.Environ
	if x.Variables != nil {
		if image, err = x.Variables(ctx); err != nil {
			return nil, fmt.Errorf("the variables of its image are not known: %w", err)
		}
	}
	script, err := x.script(c, at, needs.exports(), image)
	if err != nil {
		return nil, err
	}
	command := reapi.Command{Argv: append([]string{"/bin/sh", "-c", script, "sh"}, x.words(c)...), Outputs: []string{movedDir}, Properties: x.properties()}
	if c.Outputs != nil {
		roots, _, _ := c.Outputs.Around(x.Dish)
		for _, p := range roots {
			command.Outputs = append(command.Outputs, path.Join(workspaceDir, p))
		}
	}
	a := reapi.Action{Command: w.add(command.Encode()), Root: t.wire(w), Timeout: c.Timeout, Properties: x.properties()}
	w.digest = w.add(a.Encode())
	return w, nil
}

// inside returns a path of the workspace relative to its root, with slashes.
func (c *Cluster) inside(p string) (string, error) {
	rel, err := filepath.Rel(c.o.Root, p)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%q is outside of the workspace", p)
	}
	return filepath.ToSlash(rel), nil
}

// addInput adds an input file to the tree.
func (c *Cluster) addInput(w *wired, t *directory, f key.File) error {
	if !filepath.IsLocal(f.Path) {
		return fmt.Errorf("its input %q is outside of the workspace", f.Path)
	}
	if f.Target != "" {
		t.put(path.Join(workspaceDir, f.Path), node{target: f.Target})
		return nil
	}
	name := filepath.Join(c.o.Root, filepath.FromSlash(f.Path))
	wire, err := c.sums.wire(name, f.Sum)
	if err != nil {
		return fmt.Errorf("its input %q: %w", f.Path, err)
	}
	if _, known := w.blobs[wire]; !known {
		w.blobs[wire] = source{file: name}
	}
	t.put(path.Join(workspaceDir, f.Path), node{digest: wire, exec: f.Exec})
	return nil
}

// isPlace reports whether a variable names a directory that an action has of its own.
func isPlace(kv string) bool {
	name, _, _ := strings.Cut(kv, "=")
	return name == "HOME" || name == "TMPDIR" || name == "PWD"
}

// pathIn returns the PATH of a command in an image: that of the task, which the image's follows if it ends with ":".
func pathIn(image adapters.Environ, of, searched string) string {
	switch own := image.Get("PATH"); {
	case of == "":
		return own
	case strings.HasSuffix(of, ":"):
		return searched + ":" + own
	}
	return of
}

// properties returns what a worker must have, sorted by name.
func (x *Executor) properties() []reapi.Variable {
	if x.Image == "" {
		return x.o.Properties
	}
	list := slices.DeleteFunc(slices.Clone(x.o.Properties), func(p reapi.Variable) bool { return p.Name == x.o.Image })
	list = append(list, reapi.Variable{Name: x.o.Image, Value: "docker://" + x.Image})
	slices.SortFunc(list, func(a, b reapi.Variable) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// words returns the command's words for a worker. A program in the workspace is there, too.
func (c *Cluster) words(cmd *action.Command) []string {
	words := slices.Clone(cmd.Words)
	if p, err := c.inside(words[0]); err == nil && filepath.IsAbs(words[0]) {
		at, _ := c.inside(cmd.Dir)
		if rel, err := filepath.Rel(filepath.FromSlash("/"+at), filepath.FromSlash("/"+p)); err == nil {
			words[0] = "./" + filepath.ToSlash(rel)
		}
	}
	return words
}

// script returns the line of the shell that executes the words on a worker: it sets the variables that have absolute paths,
// and moves outputs that servers would not take: links, and files in directories that have much else in them. image are the variables
// of the image.
func (x *Executor) script(c *action.Command, at, exports string, image adapters.Environ) (string, error) {
	env := adapters.Environ(nil)
	if c.Keyed != nil {
		env = c.Keyed()
	}
	search := x.searched(adapters.Environ(c.Env).Get("PATH"))
	if x.Image != "" {
		search = pathIn(image, adapters.Environ(c.Env).Get("PATH"), search)
		env = adapters.NewEnviron(slices.Concat(slices.DeleteFunc(slices.Clone(image), isPlace), env))
	}
	env = env.With(map[string]string{"PATH": search})
	var b strings.Builder
	b.WriteString("r=${PWD%/}; PWD=$r/" + workspaceDir + "\n")
	fmt.Fprintf(&b, "export PWD HOME=\"$r/%s\" TMPDIR=\"$r/%s\"\n", homeDir, tempDir)
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if !isName(name) {
			return "", fmt.Errorf("no shell can set its variable %q", name)
		}
		fmt.Fprintf(&b, "export %s=%s\n", name, x.quoted(value))
	}
	b.WriteString(exports)
	fmt.Fprintf(&b, "cd \"$r\"/%s || exit 126\n", quote(path.Join(workspaceDir, at)))
	b.WriteString("\"$@\"\ns=$?\n")
	b.WriteString(x.moves(c))
	b.WriteString("exit $s")
	return b.String(), nil
}

// moves returns the lines of the shell that move outputs into movedDir.
func (x *Executor) moves(c *action.Command) string {
	if c.Outputs == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, `away() { d=$r/%s/$1; mkdir -p "${d%%/*}" && mv "$r/%s/$1" "$d"; }`+"\n", movedDir, workspaceDir)
	roots, names, _ := c.Outputs.Around(x.Dish)
	for _, p := range roots {
		fmt.Fprintf(&b, "if [ -L \"$r/%s/\"%[2]s ]; then away %[2]s; fi\n", workspaceDir, quote(p))
	}
	for _, p := range names {
		dir := strings.TrimPrefix(p.Prefix+"/", "/")
		fmt.Fprintf(&b, "cd \"$r/%s/\"%s && for f in %s; do if [ -L \"$f\" ] || [ -f \"$f\" ]; then away %s\"$f\"; fi; done\n", workspaceDir, quote(dir), shellNames(p.Rest), quote(dir))
	}
	return b.String()
}

// shellNames returns words of the shell that match at least the names that an element of a glob matches.
func shellNames(element string) string {
	if strings.ContainsAny(element, `[]\\`) {
		return "* .*"
	}
	literals := strings.Split(strings.ReplaceAll(element, "?", "*"), "*")
	for i, text := range literals {
		if text != "" {
			literals[i] = quote(text)
		}
	}
	word := strings.Join(literals, "*")
	if literals[0] == "" {
		word += " ." + word // a star of the shell matches no dot at the begin
	}
	return word
}

// searched returns the directories of PATH that a worker may have: not those of the user. Those of the workspace stay.
func (c *Cluster) searched(list string) string {
	var kept []string
	for _, dir := range filepath.SplitList(list) {
		_, err := c.inside(dir)
		if filepath.IsAbs(dir) && (err == nil || !below(dir, c.o.Home)) {
			kept = append(kept, dir)
		}
	}
	return strings.Join(kept, ":")
}

// below reports whether a path is a directory or in it.
func below(p, dir string) bool {
	rel, err := filepath.Rel(dir, p)
	return dir != "" && err == nil && filepath.IsLocal(rel)
}

// quoted returns a value as a word of the shell, with the worker's path of the workspace in place of the one here.
func (c *Cluster) quoted(value string) string {
	var b strings.Builder
	for {
		at := indexPath(value, c.o.Root)
		if at < 0 {
			return b.String() + quote(value)
		}
		b.WriteString(quote(value[:at]) + "\"$r\"/" + workspaceDir)
		value = value[at+len(c.o.Root):]
	}
}

// indexPath returns where a text has a path, and not only the beginning of another one; -1 if it does not.
func indexPath(text, p string) int {
	from := 0
	for {
		at := strings.Index(text[from:], p)
		if at < 0 {
			return -1
		}
		at += from
		if end := at + len(p); end == len(text) || strings.IndexByte("/:;, \"'", text[end]) >= 0 {
			return at
		}
		from = at + len(p)
	}
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// isName reports whether a shell can set a variable of this name.
func isName(s string) bool {
	for i, c := range []byte(s) {
		if c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
