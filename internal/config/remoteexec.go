package config

import (
	"cmp"
	"maps"
	"strings"
	"time"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// RemoteExec is the remote execution of a workspace: what bento.toml says, under what the user's own file says.
type RemoteExec struct {
	URL        string // "" for none
	Pos        diagnostics.Pos
	OwnURL     string // that of the user's own file, "" for none
	Properties map[string]string
	Jobs       int           // tasks at once; 0: DefaultExecJobs
	Queue      time.Duration // the longest wait for a worker; 0: DefaultExecQueue
	Class      string
	Image      string // the property that names the image of an action, "" for none

	TokenEnv         string // "": DefaultExecToken
	Headers          map[string]string
	CredentialHelper string
	TLS              RemoteTLS
}

// The values without a configured one.
const (
	DefaultExecToken = "BENTO_REMOTE_TOKEN"
	DefaultExecJobs  = 50
	DefaultExecQueue = 10 * time.Second
)

const maxExecJobs = 10_000

// remoteTable is the schema of [remote].
type remoteTable struct {
	Exec             execURL           `toml:"exec" doc:"the server that executes tasks with remote = true: grpcs://HOST[:PORT][/INSTANCE] or, on this machine, grpc:// (Remote Execution API v2). $BENTO_REMOTE_EXEC goes before it. See docs/remote-execution.md"`
	Properties       map[string]string `toml:"properties" doc:"properties of the platform that a worker must have, such as OSFamily = \"linux\". Workers that have them are taken to be alike"`
	Image            string            `toml:"image" doc:"the property that names the image in which the server runs an action, mostly container-image: with it, tasks with a container can be executed there, too. See docs/remote-execution.md"`
	Jobs             tomlfile.At[int]  `toml:"jobs" default:"50" doc:"tasks at once on workers, beside those of this machine, which -j counts; flag --remote-jobs"`
	Queue            duration          `toml:"queue" default:"10s" doc:"a task that no worker has begun for this time is executed on this machine; remote = \"only\" waits as long as it takes"`
	Class            string            `toml:"class" doc:"a name for machines whose results are equal: with it, workers are not asked for their system and C library"`
	TokenEnv         envPattern        `toml:"token_env" default:"BENTO_REMOTE_TOKEN" doc:"the variable with the token for the server. Credentials go only to a host that $BENTO_REMOTE_EXEC or your own configuration names, too"`
	Headers          map[string]string `toml:"headers" doc:"headers of each request. A value \"$NAME\" is that of the variable, and a credential"`
	CredentialHelper string            `toml:"credential_helper" doc:"a program that returns the headers of a request, by the protocol of Bazel's credential helpers"`
	TLS              remoteTLSTable    `toml:"tls" doc:"files for connections with TLS"`
}

// execURL is the URL of a server that executes tasks.
type execURL struct{ At tomlfile.At[string] }

// Shape returns the schema.
func (*execURL) Shape() tomlfile.Schema {
	return tomlfile.Schema{"type": "string", "pattern": "^grpcs?://[^/]"}
}

// UnmarshalTOML reads and checks the URL.
func (u *execURL) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	if problems := v.Decode(&u.At); len(problems) > 0 {
		return problems
	}
	if why, hint := checkExec(u.At.Value); why != "" {
		d := v.Pos().Error(diagnostics.RuleInvalid, "remote.exec %s", why).WithHint(hint)
		u.At = tomlfile.At[string]{}
		return []diagnostics.Diagnostic{d}
	}
	return nil
}

// checkExec returns why a text is no URL of a server that executes tasks, and a hint; "" if it is one.
func checkExec(text string) (why, hint string) {
	if !strings.HasPrefix(text, "grpc://") && !strings.HasPrefix(text, "grpcs://") {
		return "is no URL of a server of the Remote Execution API", "write grpcs://HOST[:PORT][/INSTANCE], or grpc:// for a server on this machine"
	}
	return CheckRemote(text)
}

// over overrides r by the values of the table.
func (t *remoteTable) over(r *RemoteExec) (problems []diagnostics.Diagnostic) {
	if t.Exec.At.Given {
		r.URL, r.Pos = t.Exec.At.Value, t.Exec.At.Pos
	}
	if t.Properties != nil {
		r.Properties = maps.Clone(t.Properties)
	}
	if t.Headers != nil {
		r.Headers = maps.Clone(t.Headers)
	}
	if t.Jobs.Given {
		problems = checkRange("remote.jobs", t.Jobs, 1, maxExecJobs)
		r.Jobs = min(max(1, t.Jobs.Value), maxExecJobs)
	}
	r.Queue = cmp.Or(time.Duration(t.Queue), r.Queue)
	r.Class, r.Image = cmp.Or(t.Class, r.Class), cmp.Or(t.Image, r.Image)
	r.TokenEnv = cmp.Or(string(t.TokenEnv), r.TokenEnv)
	r.CredentialHelper = cmp.Or(t.CredentialHelper, r.CredentialHelper)
	r.TLS.CA, r.TLS.Cert, r.TLS.Key = cmp.Or(t.TLS.CA, r.TLS.CA), cmp.Or(t.TLS.Cert, r.TLS.Cert), cmp.Or(t.TLS.Key, r.TLS.Key)
	return problems
}

// where is where a task is executed: true, false or "only".
type where dish.Place

// Shape returns the schema.
func (*where) Shape() tomlfile.Schema { return tomlfile.Schema{"enum": []any{true, false, "only"}} }

// UnmarshalTOML reads the value.
func (w *where) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	if yes, ok := v.Any().(bool); ok {
		if *w = where(dish.PlaceHere); yes {
			*w = where(dish.PlaceRemote)
		}
		return nil
	}
	if text, _ := v.Text(); text == "only" {
		*w = where(dish.PlaceOnly)
		return nil
	}
	return []diagnostics.Diagnostic{v.Expected(`true, false or "only"`)}
}
