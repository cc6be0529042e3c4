package companion

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/bounds"
	plugin "github.com/bentobuild/bento/plugin/host"
)

// dataVariable is the variable with the data directory of an extension for this workspace.
const dataVariable = "BENTO_EXTENSION_DATA"

// bytecodeVariable keeps Python from writing compiled files, which would change the approved content.
const bytecodeVariable = "PYTHONDONTWRITEBYTECODE"

// RuleFailed is the rule of an extension that failed during a run.
const RuleFailed = "extension_failed"

// start starts the extensions that are ready, until ctx is done, and reports the others.
func (s *Set) start(ctx context.Context, list []Extension) {
	for i := range list {
		switch e := &list[i]; {
		case e.Status == Ready, e.Status == Disabled:
		case e.Status == NotApproved && s.o.Places.warned(e, time.Now()):
			s.note(*e.Problem)
		default:
			s.report(*e.Problem)
		}
	}
	close(s.judged)
	var shared []*Extension
	for i := range list {
		switch e := &list[i]; {
		case ctx.Err() != nil:
			return
		case e.Status == Ready && e.Ainb != nil:
			shared = append(shared, e)
		case e.Status == Ready:
			s.open(e, func() (host, error) { return s.openSEP(ctx, e) })
		}
	}
	if len(shared) > 0 {
		s.open(shared[0], func() (host, error) { return s.openAinb(ctx, shared) })
	}
}

// open opens the host of an extension.
func (s *Set) open(e *Extension, start func() (host, error)) {
	h, err := start()
	if err != nil {
		s.refused(e, err)
		return
	}
	s.hosts = append(s.hosts, h)
}

// before returns the function to call right before each start of an extension. The function starts the guard, and
// returns an error if the files of the extension have changed.
func (s *Set) before(e *Extension) func() error {
	unchanged := e.unchanged()
	return func() error {
		s.o.Guard()
		if unchanged == nil {
			return nil
		}
		return unchanged()
	}
}

// refused reports an extension whose start failed.
func (s *Set) refused(e *Extension, err error) {
	d := e.Settings.Pos.Warning(RuleFailed, "the extension %s is not started: %v", e.ID, err)
	var f *adapters.Failure
	if errors.As(err, &f) {
		d.Hint = f.Hint
	}
	s.report(d)
}

// report stores a problem and passes it to Warn.
func (s *Set) report(d diagnostics.Diagnostic) {
	if d = s.note(d); s.o.Warn != nil {
		s.o.Warn(d)
	}
}

// note keeps a problem for documents, and returns it as a warning: an extension must not fail a run.
func (s *Set) note(d diagnostics.Diagnostic) diagnostics.Diagnostic {
	d.Severity = diagnostics.Warning
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = append(s.problems, d)
	return d
}

// failed logs a failure of an extension and publishes it to the others. An extension that failed too often is
// reported, and does not start again before bento ext reload.
func (s *Set) failed(id string, quarantined bool, f *adapters.Failure) {
	s.journal(id).Log("error", f.Error())
	s.PluginFailed(id, string(f.Code), f.Message)
	if f.Code == adapters.NotTrusted {
		s.report(diagnostics.Pos{}.Warning(RuleChanged, "the extension %s is not started: %s", id, f.Message).WithHint(f.Hint))
	}
	s.remember(id, quarantined, f)
	if !quarantined {
		return
	}
	s.report(diagnostics.Pos{}.Warning(RuleQuarantined, "the extension %s failed too often: %s", id, f.Message).
		WithHint("bento ext logs " + id + ", then bento ext reload " + id))
}

// remember saves a failure: three within a minute end an extension, also those of several invocations. A program
// that may not start has not failed, and one that ends after its answer to a command has done its work.
func (s *Set) remember(id string, quarantined bool, f *adapters.Failure) {
	r := s.o.Places.Records
	if r == nil || f.Code == adapters.NotTrusted || s.answered.Load() {
		return
	}
	_ = r.Change(s.o.Places.Root, id, func(r *Record) { // if it cannot be saved, it counts in this invocation only
		r.Fail(now())
		if quarantined {
			r.Quarantined, r.Failures = f.Message, ""
		}
	})
}

// earlier returns the failures of earlier invocations that count.
func (e *Extension) earlier() []time.Time { return e.Record.Failed(now(), plugin.Extension().Window) }

func (s *Set) toast(extension, level, message string) {
	s.journal(extension).Log(level, message)
	if s.o.Toast != nil {
		s.o.Toast(extension, level, message)
	}
}

// free returns the environment of every extension, without entries that lead into the repository.
func (s *Set) free() adapters.Environ {
	return adapters.NewEnviron(bounds.Of(s.o.Places.Root).Free(s.o.Environ)).Strict()
}

// variables returns the further variables of an extension: those that the configuration names, and its data
// directory.
func (s *Set) variables(e *Extension) map[string]string {
	set := map[string]string{bytecodeVariable: "1"}
	for _, name := range e.Settings.Env {
		if value, ok := s.o.Environ.Lookup(name); ok {
			set[name] = value
		}
	}
	maps.Copy(set, e.Settings.SetEnv)
	if dir := s.dataDir(e); dir != "" {
		set[dataVariable] = dir
	}
	return set
}

// dataDir creates the data directory of an extension for one workspace, outside of the workspace.
func (s *Set) dataDir(e *Extension) string {
	r := s.o.Places.Records
	if r == nil {
		return ""
	}
	dir := filepath.Join(filepath.Dir(r.Dir), "extension-data", recordKey(s.o.Places.Root, e.ID))
	if os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	return dir
}
