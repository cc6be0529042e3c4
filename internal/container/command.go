package container

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/dish"
)

// request describes one container.
type request struct {
	engine    *engine
	image     *inspected
	container *dish.Container
	command   *action.Command
	root      string
	name      string
	task      string
	network   bool
	binds     []bind
	envFile   string
	runArgs   []string
	uid, gid  int

	lackedMemory bool // the engine has ended it because it had no more memory
}

// argv returns the words that run the container.
func (r *request) argv() []string {
	words := []string{"run", "--rm", "--pull=never", "--name", r.name, "--label", "dev.bento.task=" + r.task, "--security-opt", "label=disable"}
	if r.engine.init {
		words = append(words, "--init")
	}
	if r.network {
		words = append(words, "--network=host")
	} else {
		words = append(words, "--network=none")
	}
	words = append(words, r.user()...)
	if r.command.Stdin != nil {
		words = append(words, "--interactive")
	}
	if r.command.Terminal != nil {
		words = append(words, "--tty")
	}
	for _, b := range r.binds {
		words = append(words, "--mount", b.option())
	}
	words = append(words, r.variables()...)
	words = append(words, "--workdir", r.inside(r.command.Dir), "--entrypoint", "")
	words = append(words, r.runArgs...)
	words = append(words, r.image.ID)
	return r.engine.command(append(words, r.command.Argv...)...)
}

// user returns the flags of the user. Without a user in the configuration, files belong to bento's user.
func (r *request) user() []string {
	caller := strconv.Itoa(r.uid) + ":" + strconv.Itoa(r.gid)
	switch own := r.container.User; {
	case own != "":
		return []string{"--user", own}
	case !r.engine.rootless:
		return []string{"--user", caller}
	case r.engine.Name == "podman" && !r.engine.alone:
		return []string{"--userns=keep-id", "--user", caller}
	}
	return []string{"--user", "0:0"} // which is the caller on this machine
}

// variables returns the flags of the variables that envFile cannot hold.
func (r *request) variables() (words []string) {
	for _, kv := range r.environ() {
		if strings.ContainsAny(kv, "\n\r") {
			words = append(words, "--env", kv)
		}
	}
	return append(words, "--env-file", r.envFile)
}

// fileOfVariables returns the content of envFile. The values are not on a command line, which all users can read.
func (r *request) fileOfVariables() string {
	var b strings.Builder
	for _, kv := range r.environ() {
		if !strings.ContainsAny(kv, "\n\r") {
			b.WriteString(kv + "\n")
		}
	}
	return b.String()
}

// environ returns the variables of the command in the container. A PATH that ends with ":" ends with that of the image.
func (r *request) environ() []string {
	env := []string{"HOME=" + home, "TMPDIR=" + temporary}
	for _, kv := range r.command.Env {
		name, value, _ := strings.Cut(kv, "=")
		value = r.moved(value)
		if rest, open := strings.CutSuffix(value, ":"); name == "PATH" && open {
			value = rest + ":" + r.image.environ().Get("PATH")
		}
		env = slices.DeleteFunc(env, func(old string) bool { return strings.HasPrefix(old, name+"=") })
		env = append(env, name+"="+value)
	}
	return env
}

// defaultPath is the PATH in an image that sets none.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// moved returns a value with the paths of the workspace as they are in the container.
func (r *request) moved(value string) string {
	if !strings.Contains(value, r.root) {
		return value
	}
	parts := strings.Split(value, ":")
	for i, p := range parts {
		if p == r.root || strings.HasPrefix(p, r.root+"/") {
			parts[i] = r.inside(p)
		}
	}
	return strings.Join(parts, ":")
}

// inside returns the path in the container of an absolute path of the workspace.
func (r *request) inside(p string) string {
	rel, err := filepath.Rel(r.root, p)
	if err != nil {
		return Workspace
	}
	return path.Join(Workspace, filepath.ToSlash(rel))
}

// caller returns bento's user.
func caller() (uid, gid int) { return max(0, os.Geteuid()), max(0, os.Getegid()) }
