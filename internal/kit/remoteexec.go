package kit

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/place"
	"github.com/bentobuild/bento/cache/remote/reapi"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/remoteexec"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/workspace"
)

// remoteExecEnv is the variable with the server that executes tasks.
const remoteExecEnv = "BENTO_REMOTE_EXEC"

// RemoteExec is the remote execution of a workspace, as it is configured. Nothing is opened yet.
type RemoteExec struct {
	*place.Endpoint
	Known bool // the user has named the server, and not only the repository
	Jobs  int  // tasks at once

	set    config.RemoteExec
	server *Remote // the way to the server
}

// FindRemoteExec returns the remote execution of a workspace, nil if none is configured. Problems are those of the
// configuration and of the environment.
func FindRemoteExec(h *workspace.Host, cfg *config.Workspace) (*RemoteExec, []diagnostics.Diagnostic) {
	set := cfg.RemoteExec
	named, pos, from := set.OwnURL, set.Pos, ""
	if env := h.Environ.Get(remoteExecEnv); env != "" {
		named, pos, set.URL, from = env, diagnostics.Pos{}, env, "$"+remoteExecEnv+": "
	}
	if set.URL == "" {
		return nil, nil
	}
	r := &RemoteExec{set: set, Jobs: cmp.Or(set.Jobs, config.DefaultExecJobs)}
	var err error
	if r.Endpoint, err = execEndpoint(set.URL); err != nil {
		d := pos.Error(diagnostics.RuleInvalid, "%s%v", from, err)
		if of := (*place.Error)(nil); errors.As(err, &of) {
			d.Hint = of.Hint
		}
		return nil, []diagnostics.Diagnostic{d}
	}
	if named != "" {
		own, err := execEndpoint(named)
		r.Known = err == nil && r.Endpoint.Known(own)
	}
	r.server = &Remote{Endpoint: r.Endpoint, Known: r.Known, host: h, root: cfg.Root, set: config.Remote{
		TokenEnv: cmp.Or(set.TokenEnv, config.DefaultExecToken), Headers: set.Headers, CredentialHelper: set.CredentialHelper, TLS: set.TLS,
	}}
	return r, nil
}

func execEndpoint(text string) (*place.Endpoint, error) {
	e, err := place.ParseEndpoint(text)
	if err == nil && e.Kind != place.REAPI {
		err = &place.Error{Reason: "is none of a server of the Remote Execution API", Hint: "write grpcs://HOST[:PORT][/INSTANCE]"}
	}
	return e, err
}

// client opens the connection.
func (r *RemoteExec) client() (*reapi.Client, error) {
	scheme := "grpc"
	if r.TLS {
		scheme = "grpcs"
	}
	o, err := r.server.way(scheme)
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname() // "" will do
	return reapi.Open(reapi.Options{Transport: o, Sender: host + ":" + r.server.root, First: execAnswerTime, Idle: execIdleTime})
}

// The limits of a server that does not answer. A task waits for it, so it has longer than a cache: to give up what workers have made
// costs more than to wait while a machine is busy.
const (
	execAnswerTime = 15 * time.Second
	execIdleTime   = 30 * time.Second
)

// Connect returns what executes the tasks of a workspace, and a function that ends it.
func (r *RemoteExec) Connect(w *workspace.Workspace) (run.Elsewhere, func()) {
	c := remoteexec.New(remoteexec.Options{
		Open: r.client, Name: r.String(), Root: r.server.root, Home: r.server.host.Environ.Get("HOME"), State: w.State, Properties: r.properties(), Image: r.set.Image,
		Queue: cmp.Or(r.set.Queue, config.DefaultExecQueue), Class: r.set.Class,
	})
	return run.Elsewhere{
		Execute: func(d run.Distant) action.Executor {
			return &remoteexec.Executor{Cluster: c, Job: remoteexec.Job{
				Only: d.Only, Fresh: d.Fresh, Dish: d.Dish, Image: d.Image, Variables: d.Variables, Adapter: d.Adapter, Toolchain: d.Toolchain,
				Installed: func() (remoteexec.Installed, error) {
					needs, stamp, err := d.Installed()
					return remoteexec.Installed{Portable: needs, Stamp: stamp}, err
				},
				Placed: func(s remoteexec.Stay) { d.Placed(run.Stay{Queued: s.Queued, Cached: s.Cached}) },
			}}
		},
		Jobs: r.Jobs, Images: r.set.Image != "", Asks: remoteexec.CanAsk, Keeps: remote.IsSecret,
	}, c.Close
}

func (r *RemoteExec) properties() (list []reapi.Variable) {
	for _, name := range slices.Sorted(maps.Keys(r.set.Properties)) {
		list = append(list, reapi.Variable{Name: name, Value: r.set.Properties[name]})
	}
	return list
}

// Probe asks the server what it can do. An error says that it executes nothing.
func (r *RemoteExec) Probe(ctx context.Context) (says string, took time.Duration, err error) {
	c, err := r.client()
	if err != nil {
		return "", 0, err
	}
	defer c.Close()
	began := time.Now()
	if err = c.Executes(ctx); err != nil {
		return "", 0, err
	}
	took = time.Since(began)
	says, err = c.Describe(ctx)
	return says, took, err
}
