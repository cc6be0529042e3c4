package dish

import (
	"strings"

	"github.com/bentobuild/bento/diagnostics"
)

// Contained is the place of the workspace in every container.
const Contained = "/bento/w"

// Container describes the container in which commands run. It is set whole: at a task, at a dish or in the defaults.
type Container struct {
	None  bool   // the command runs directly on this machine
	Image string // a reference; "" with Dockerfile
	// Dockerfile and Context are the file and the directory that the image is built of, relative to the workspace.
	Dockerfile, Context string
	Engine              string // "podman" or "docker"; "": the first that answers
	Network             bool
	NoInstall           bool   // bento installs nothing on this machine for its tasks
	User                string // UID, UID:GID or a name; "": bento's user
	Mounts              []Mount
	Env                 []string          // NAME or PREFIX_*: passed, and ingredients of the key
	SetEnv              map[string]string // set, and ingredients of the key
	Pos                 diagnostics.Pos
}

// Mount is a directory or file outside of the workspace, or a named volume of the engine, in a container.
type Mount struct {
	Source string // absolute, with "~/" in front, or the name of a volume
	Target string // absolute
	Write  bool
}

// Shown returns the image of c for people: its name, or the file that it is built of.
func (c *Container) Shown() string {
	if c.Dockerfile != "" {
		return "the image of " + c.Dockerfile
	}
	return c.Image
}

// Repository returns a reference without its tag and digest.
func Repository(ref string) string {
	name, _, _ := strings.Cut(ref, "@")
	if at := strings.LastIndexByte(name, ':'); at > strings.LastIndexByte(name, '/') {
		name = name[:at]
	}
	return name
}
