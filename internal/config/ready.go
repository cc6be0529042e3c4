package config

import (
	"net/url"
	"regexp"
	"time"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// readyTimeout is the default time in which a task must become ready.
const readyTimeout = time.Minute

// readyTable is the schema of a task's ready.
type readyTable struct {
	Port    tomlfile.At[int]    `toml:"port" doc:"it accepts connections on this local port"`
	HTTP    tomlfile.At[string] `toml:"http" doc:"it responds to a request with a status below 400"`
	Log     tomlfile.At[string] `toml:"log" doc:"it has printed a line that matches"`
	Cmd     tomlfile.At[string] `toml:"cmd" doc:"the command exits with status 0"`
	Timeout duration            `toml:"timeout" default:"1m" doc:"(after this time without that, it fails)"`
}

// Shape returns the schema: exactly one of the conditions is required.
func (*readyTable) Shape() tomlfile.Schema {
	var conditions []any
	for _, key := range []string{"port", "http", "log", "cmd"} {
		conditions = append(conditions, tomlfile.Schema{"required": []string{key}})
	}
	s := tomlfile.SchemaOf(readyTable{})
	s["oneOf"] = conditions
	return s
}

// ready checks and converts the ready table. mayServe says that the task is persistent, or has the command of a
// recipe, which may be persistent.
func ready(t tomlfile.At[readyTable], mayServe bool) (*dish.Ready, []diagnostics.Diagnostic) {
	if !t.Given {
		return nil, nil
	}
	v := &t.Value
	r := &dish.Ready{Port: v.Port.Value, HTTP: v.HTTP.Value, Log: v.Log.Value, Cmd: v.Cmd.Value, Timeout: time.Duration(v.Timeout), Pos: t.Pos}
	if r.Timeout == 0 {
		r.Timeout = readyTimeout
	}
	problem := func(format string, args ...any) (*dish.Ready, []diagnostics.Diagnostic) {
		return nil, []diagnostics.Diagnostic{t.Pos.Error(diagnostics.RuleInvalid, format, args...)}
	}
	given := 0
	for _, is := range []bool{v.Port.Given, v.HTTP.Given, v.Log.Given, v.Cmd.Given} {
		if is {
			given++
		}
	}
	switch {
	case !mayServe:
		return problem("%s", dish.NotServing)
	case given != 1:
		return problem("ready names %d conditions, expected exactly one of port, http, log, cmd", given)
	case v.Port.Given && (r.Port < 1 || r.Port > 65535):
		return problem("ready.port is %d, expected 1 to 65535", r.Port)
	case v.HTTP.Given:
		if u, err := url.Parse(r.HTTP); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return problem(`ready.http is %q, expected an address such as "http://localhost:8080/health"`, r.HTTP)
		}
	case v.Log.Given:
		if _, err := regexp.Compile(r.Log); err != nil || r.Log == "" {
			return problem("ready.log is %q, expected a regular expression: %v", r.Log, err)
		}
	}
	return r, nil
}
