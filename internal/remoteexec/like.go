package remoteexec

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache/remote/reapi"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/proc"
)

// A result of a worker is one of this machine only if both have the same system, C library and toolchain. So the same lines of
// the shell run here and on a worker, and must print the same. The properties of the platform, for which a server chooses the
// worker, are the promise that the others answer as that one does.

// machine asks for the system and its C library.
const machine = `uname -s -m; (. /etc/os-release; echo "$ID $VERSION_ID") 2>/dev/null; getconf GNU_LIBC_VERSION 2>/dev/null || ldd --version 2>&1 | head -n 2
`

// toolchains ask for the tools of adapters, by their ids.
var toolchains = map[string]string{
	"go": "go env GOVERSION GOOS GOARCH GO386 GOAMD64 GOARM GOARM64 GOFLAGS GOEXPERIMENT GODEBUG CGO_ENABLED CGO_CFLAGS CGO_LDFLAGS CC CXX; " +
		"if [ \"$(go env CGO_ENABLED)\" = 1 ]; then $(go env CC) --version | head -n 1; fi",
	"cargo":     "rustc -vV; cargo -V; cc --version | head -n 1",
	"python":    python,
	"python-uv": python,
	"node-npm":  "node --version; npm --version",
	"node-pnpm": "node --version; pnpm --version",
	"node-yarn": "node --version; yarn --version",
	"bun":       "bun --version",
	"deno":      "deno --version",
	"ruby":      "ruby -v; bundle --version",
	"php":       "php -v; php -m",
	"maven":     "java -version 2>&1; mvn -v | grep -v home",
	"gradle":    "java -version 2>&1; gradle --version",
}

const python = `python3 -I -c 'import platform, sys, sysconfig
print(platform.python_version(), sys.implementation.name, sysconfig.get_config_var("SOABI"), sysconfig.get_platform())'`

// CanAsk reports whether a worker can be asked for the toolchain of an adapter.
func CanAsk(adapter string) bool { return toolchains[adapter] != "" }

// unlikeError is the error of workers that are not like this machine.
type unlikeError struct{ here, there string }

func (e *unlikeError) Error() string {
	return fmt.Sprintf("its workers are not like this machine: %q there, %q here", e.there, e.here)
}

// askError is the error of a question that no worker has answered.
type askError struct{ error }

// Unwrap returns the cause.
func (e *askError) Unwrap() error { return e.error }

// likeness is the answer to one question, which is asked once.
type likeness struct {
	once sync.Once
	err  error
}

// alike returns an error unless the workers are like this machine for a command, or run it in its image.
func (c *Cluster) alike(ctx context.Context, client *reapi.Client, cmd *action.Command, j *Job) error {
	if j.Image != "" { // the image is the toolchain
		return c.askOnce("image", func() error { return c.takesImages(ctx, client, cmd, j.Image) })
	}
	question := toolchains[j.Adapter]
	if c.o.Class == "" {
		question = machine + question
	}
	if question == "" {
		return nil
	}
	id := fmt.Sprintf("%s\x00%s\x00%t", j.Adapter, j.Toolchain, j.Only) // one waits for a worker as long as it takes, the other does not
	return c.askOnce(id, func() error { return c.compare(ctx, client, cmd, question, j.Only) })
}

// askOnce returns the answer to a question. It asks again only if there was none.
func (c *Cluster) askOnce(id string, ask func() error) error {
	c.mu.Lock()
	l := c.likes[id]
	if l == nil {
		l = new(likeness)
		c.likes[id] = l
	}
	c.mu.Unlock()
	l.once.Do(func() { l.err = ask() })
	if l.err != nil && !isAnswer(l.err) {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.likes, id)
	}
	return l.err
}

// isAnswer reports whether err says what the workers are, and not that the server has failed.
func isAnswer(err error) bool {
	return errors.As(err, new(*unlikeError)) || errors.As(err, new(*imageError))
}

// askTime is the longest time of the answer here.
const askTime = time.Minute

// compare asks here and there.
func (c *Cluster) compare(ctx context.Context, client *reapi.Client, cmd *action.Command, question string, only bool) error {
	var here, there bytes.Buffer
	var failed error
	var asking sync.WaitGroup
	asking.Go(func() {
		_, failed = proc.Run(ctx, proc.Spec{Argv: []string{"/bin/sh", "-c", question}, Dir: cmd.Dir, Env: cmd.Env, Stdout: &here, Stderr: &here, Timeout: askTime})
	})
	x := &Executor{Cluster: c, Job: Job{Fresh: true, Only: only}}
	asked := &action.Command{Spec: proc.Spec{Dir: cmd.Dir, Env: adapters.Environ{"PATH=" + adapters.Environ(cmd.Env).Get("PATH")}, Timeout: askTime, Stdout: &there, Stderr: &there}, Keyed: cmd.Keyed}
	asked.Words, asked.Inputs = []string{"sh", "-c", question}, func(func(key.File) bool) {}
	a, err := x.action(ctx, asked)
	if err == nil {
		var end *reapi.Executed
		if end, err = x.run(ctx, client, a, 0); err == nil {
			_, err = c.collect(ctx, client, asked, end)
		}
	}
	if asking.Wait(); cmp.Or(err, failed) != nil {
		return &askError{cmp.Or(err, failed)}
	}
	if here.String() != there.String() {
		return &unlikeError{here: differing(here.String(), there.String()), there: differing(there.String(), here.String())}
	}
	return nil
}

// imageError is the error of a server that does not run actions in the images that they name.
type imageError struct{ property string }

func (e *imageError) Error() string {
	return fmt.Sprintf("it does not run actions in the images that they name: one that does not exist was no obstacle (remote.image = %q)", e.property)
}

// imageTime is how long a server may look for an image that does not exist. One that still looks for it, or waits for a worker that
// has it, does what the property says.
const imageTime = 2 * time.Second

// takesImages returns an error if the server executes an action although there is no image like its one: it would execute all on
// machines of which the keys of their tasks know nothing.
func (c *Cluster) takesImages(ctx context.Context, client *reapi.Client, cmd *action.Command, image string) error {
	name, _, _ := strings.Cut(image, "@")
	x := &Executor{Cluster: c, Job: Job{Fresh: true, Image: name + "@sha256:" + strings.Repeat("0", 64)}}
	a, err := x.action(ctx, &action.Command{
		Spec: proc.Spec{Dir: cmd.Dir, Timeout: askTime}, Words: []string{"/bin/sh", "-c", "exit 0"}, Inputs: func(func(key.File) bool) {},
	})
	if err == nil {
		err = x.upload(ctx, client, a, false)
	}
	if err != nil {
		return &askError{err}
	}
	short, cancel := context.WithTimeout(ctx, imageTime)
	defer cancel()
	if end, err := client.Execute(short, a.digest, true, func(reapi.Stage) {}); err == nil && end.Code == reapi.OK {
		return &imageError{c.o.Image}
	}
	return context.Cause(ctx)
}

// differing returns the first line of a text that differs from the same line of another one.
func differing(text, other string) string {
	lines, others := strings.Split(text, "\n"), strings.Split(other, "\n")
	for i, line := range lines {
		if i >= len(others) || others[i] != line {
			return line
		}
	}
	return "nothing"
}
