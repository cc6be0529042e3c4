package config

import (
	"path"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/pattern"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// container is a dish.Container. Paths of a dockerfile are relative to the directory of its file.
type container struct {
	value *dish.Container // nil when not given, or faulty
	pos   diagnostics.Pos
}

// containerTable is the schema of a container as a table.
type containerTable struct {
	Image      tomlfile.At[string] `toml:"image" doc:"the image, as NAME:TAG or NAME@sha256:DIGEST. bento container lock writes the digest of a tag to bento.lock"`
	Dockerfile tomlfile.At[string] `toml:"dockerfile" also:"build,containerfile" doc:"in place of image: the file that the image is built of, relative to the directory of this file"`
	Context    tomlfile.At[string] `toml:"context" doc:"the directory whose files the dockerfile may copy, less those of its .dockerignore, relative to the directory of this file. Default: that directory"`
	Engine     choice[engineWords] `toml:"engine" doc:"podman or docker; auto: the first of them that answers, which is the default"`
	Network    bool                `toml:"network" doc:"true: the container has the network of the machine. By default it has none"`
	Install    tomlfile.At[bool]   `toml:"install" doc:"false: bento installs no dependencies on the machine for tasks in the container. A task of your own installs them there. Default: true"`
	User       string              `toml:"user" doc:"the user in the container, as UID, UID:GID or a name of the image. Default: bento's user"`
	Mounts     []mount             `toml:"mounts" also:"volumes" doc:"further files in the container, as \"SOURCE:TARGET\" or \"SOURCE:TARGET:rw\". The source is an absolute path, one with ~/ in front, or the name of a volume. Their content is not part of the key"`
	Env        envVars             `toml:"env" doc:"variables that are passed, as NAME or PREFIX_*, or set: they are part of the key"`
}

type engineWords struct{}

func (engineWords) words() []string { return []string{"auto", "podman", "docker"} }

// noContainer is the value of container for tasks that run directly on this machine.
const noContainer = "none"

// Shape returns the schema.
func (*container) Shape() tomlfile.Schema {
	return tomlfile.Schema{"anyOf": []any{tomlfile.Schema{"type": "string", "minLength": 1}, tomlfile.SchemaOf(containerTable{})}}
}

// UnmarshalTOML reads an image, "none", or a table.
func (c *container) UnmarshalTOML(v *tomlfile.Value) (problems []diagnostics.Diagnostic) {
	var raw containerTable
	c.pos = v.Pos()
	switch v.Kind() {
	case tomlfile.String:
		problems = v.Decode(&raw.Image)
		if raw.Image.Value == noContainer && len(problems) == 0 {
			c.value = &dish.Container{None: true, Pos: v.Pos()}
			return nil
		}
	case tomlfile.Table:
		problems = v.Decode(&raw)
	default:
		return []diagnostics.Diagnostic{v.Expected(`an image, "none" or a table such as { image = "…", network = true }`)}
	}
	problems = append(problems, raw.check(v)...)
	if len(problems) > 0 {
		return problems
	}
	c.value = &dish.Container{
		Image: raw.Image.Value, Dockerfile: raw.Dockerfile.Value, Context: raw.Context.Value, Engine: raw.Engine.At.Value, Network: raw.Network,
		NoInstall: raw.Install.Given && !raw.Install.Value, User: raw.User, Env: raw.Env.Names, SetEnv: raw.Env.Set, Pos: v.Pos(),
	}
	if c.value.Engine == "auto" {
		c.value.Engine = ""
	}
	for _, m := range raw.Mounts {
		c.value.Mounts = append(c.value.Mounts, dish.Mount(m))
	}
	return nil
}

// reference is what both engines accept as the name of an image.
var reference = pattern.New(`^[A-Za-z0-9][\w.-]*(:\d+)?(/[A-Za-z0-9][\w.-]*)*(:[\w][\w.-]{0,127})?(@sha256:[0-9a-f]{64})?$`)

// userText is what both engines accept as a user.
var userText = pattern.New(`^[\w][\w.-]*(:[\w][\w.-]*)?$`)

func (t *containerTable) check(v *tomlfile.Value) (problems []diagnostics.Diagnostic) {
	invalid := func(format string, args ...any) {
		problems = append(problems, v.Pos().Error(diagnostics.RuleInvalid, format, args...))
	}
	switch {
	case t.Image.Given && t.Dockerfile.Given:
		invalid("%s: image and dockerfile exclude each other", v.Path())
	case !t.Image.Given && !t.Dockerfile.Given:
		invalid("%s names no image, expected image or dockerfile", v.Path())
	case t.Image.Given && !reference.MatchString(t.Image.Value):
		invalid("%q is no image, expected NAME:TAG or NAME@sha256:DIGEST", t.Image.Value)
	case t.Context.Given && !t.Dockerfile.Given:
		invalid("%s: context belongs to a dockerfile", v.Path())
	}
	if t.User != "" && !userText.MatchString(t.User) {
		invalid("user %q is no user, expected UID, UID:GID or a name", t.User)
	}
	return problems
}

// at returns the container with the paths of its dockerfile, which are relative to dir, relative to the workspace.
func (c *container) at(dir string) (*dish.Container, []diagnostics.Diagnostic) {
	if c == nil || c.value == nil || c.value.Dockerfile == "" {
		return c.get(), nil
	}
	for _, p := range []*string{&c.value.Dockerfile, &c.value.Context} {
		joined := path.Join(dir, *p)
		if path.IsAbs(*p) || joined == ".." || strings.HasPrefix(joined, "../") || hasControl(*p) {
			return nil, []diagnostics.Diagnostic{c.pos.Error(rulePath, "the path %q of the container leads out of the workspace, expected one relative to this file", *p)}
		}
		*p = joined
	}
	return c.value, nil
}

func (c *container) get() *dish.Container {
	if c == nil {
		return nil
	}
	return c.value
}

// mount is a dish.Mount.
type mount dish.Mount

// volume is the name of a volume.
var volume = pattern.New(`^[A-Za-z0-9][\w.-]+$`)

// Shape returns the schema.
func (*mount) Shape() tomlfile.Schema {
	return tomlfile.Schema{"type": "string", "pattern": "^[^:]+:/[^:]+(:r[ow])?$"}
}

// UnmarshalTOML reads and checks a mount.
func (m *mount) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	s, ok := v.Text()
	if !ok {
		return []diagnostics.Diagnostic{v.Expected(`a mount "SOURCE:TARGET" or "SOURCE:TARGET:rw"`)}
	}
	parts := strings.Split(s, ":")
	rights := "ro"
	if len(parts) == 3 {
		rights = parts[2]
	}
	bad := func(format string, args ...any) []diagnostics.Diagnostic {
		return []diagnostics.Diagnostic{v.Pos().Error(rulePath, format, args...)}
	}
	switch {
	case hasControl(s):
		return bad("the mount %q holds a control character, expected SOURCE:TARGET", s)
	case len(parts) < 2 || len(parts) > 3 || rights != "ro" && rights != "rw":
		return bad("the mount %q is not SOURCE:TARGET, or that with :ro or :rw", s)
	case !path.IsAbs(parts[0]) && !strings.HasPrefix(parts[0], "~/") && !volume.MatchString(parts[0]):
		return bad("the mount %q: its source is no absolute path, no path with ~/ in front and no name of a volume", s)
	}
	target := path.Clean(parts[1])
	if !path.IsAbs(target) || target == "/" || target == "/bento" || strings.HasPrefix(target, "/bento/") {
		return bad("the mount %q: its target must be an absolute path other than / and not below /bento", s)
	}
	*m = mount{Source: parts[0], Target: target, Write: rights == "rw"}
	return nil
}

// ownContainers is the schema of [container] in the user's own file.
type ownContainers struct {
	Engine     choice[engineWords] `toml:"engine" default:"auto" doc:"podman or docker, where a container names none"`
	EngineArgs []string            `toml:"engine_args" doc:"words in front of each subcommand of the engine: [\"--runtime\", \"runc\"]"`
	RunArgs    []string            `toml:"run_args" doc:"further flags of run: [\"--memory=4g\"]"`
	BuildArgs  []string            `toml:"build_args" doc:"further flags of build: [\"--isolation=chroot\"]"`
}

// Containers is how a machine runs containers.
type Containers struct {
	Engine                         string // "" is the first that answers
	EngineArgs, RunArgs, BuildArgs []string
}

func (t *ownContainers) containers() Containers {
	c := Containers{t.Engine.At.Value, t.EngineArgs, t.RunArgs, t.BuildArgs}
	if c.Engine == "auto" {
		c.Engine = ""
	}
	return c
}
