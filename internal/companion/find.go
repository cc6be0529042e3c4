// Package companion runs the extensions that a workspace and its user name. It decides which may start, converts
// the events of a run to topics, and publishes these. The run never waits for it.
package companion

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/report"
	ainb "github.com/bentobuild/bento/plugin/ainb/manifest"
	sep "github.com/bentobuild/bento/plugin/sep/manifest"
)

// The contracts of extensions, as documents name them.
const (
	ContractAinb = "ainb-v2"
	ContractSEP  = "sep-v1"
)

// The statuses of an extension.
const (
	Ready       = "ready"
	NotApproved = "not_approved" // only the repository names it, and the user has approved no content
	Changed     = "changed"      // its content differs from the approved or pinned content
	Disabled    = "disabled"     // by the user
	Quarantined = "quarantined"  // it failed too often
	Failed      = "failed"       // it cannot be started
)

// The rules of the diagnostics of this package.
const (
	RuleNotApproved = "extension_not_approved"
	RuleChanged     = "extension_changed"
	RuleDisabled    = "extension_disabled"
	RuleQuarantined = "extension_quarantined"
	RuleUnusable    = "extension_unusable"
	RuleOtherID     = "extension_other_id"
)

// Extension is an extension that the configuration names, whether or not it can start. It is not started yet.
type Extension struct {
	ID       string
	Settings config.Extension
	Dir      string // absolute
	Contract string // "" if it has no readable manifest
	Version  string
	Eager    bool // it starts with a run, concurrently with discovery
	Digest   string
	stamp    string // the stats of the files at the time of Digest, "" for none
	granted  map[string]ainb.Grant
	// registered are the panels that it registered in its last run.
	registered []sep.Panel
	// shared reports whether bento x means something else, too, by the id of a panel. It may be nil.
	shared  func(panel string) bool
	Record  Record
	Status  string
	Problem *diagnostics.Diagnostic  // nil if it is ready
	Notes   []diagnostics.Diagnostic // warnings about its manifest
	Ainb    *ainb.Found              // of its contract
	SEP     *sep.Manifest            // likewise
}

// Places are the directories of extensions, and of the user's decisions about them.
type Places struct {
	Root    string // of the workspace
	Data    string // the user's own directory of extensions; "" if the environment names none
	Config  string // the directory of the user's configuration; "" likewise
	Records *Records
}

// PlacesOf returns the places of a user.
func PlacesOf(root string, getenv func(string) string) Places {
	p := Places{Root: root, Data: owndir.OfUser(getenv, "XDG_DATA_HOME", "extensions"), Config: owndir.OfUser(getenv, "XDG_CONFIG_HOME")}
	if dir := owndir.OfUser(getenv, "XDG_STATE_HOME", "extensions"); dir != "" {
		p.Records = &Records{Dir: dir}
	}
	return p
}

// Find returns the extensions that a configuration names, sorted by id. It starts none. It reads the files of an
// extension only if a decision needs their digest.
func Find(cfg *config.Workspace, p Places) []Extension {
	var list []Extension
	for _, id := range cfg.ExtensionIDs() {
		list = append(list, p.find(id, cfg.Extensions[id]))
	}
	conflicts(list)
	return list
}

// Read returns the extension in a directory without the configuration. Its id comes from its manifest, and it
// needs no approval.
func Read(dir string) *Extension {
	e := &Extension{Dir: dir, Status: Ready}
	e.read()
	return e
}

// find returns one extension.
func (p Places) find(id string, settings config.Extension) Extension {
	e := Extension{ID: id, Settings: settings, Dir: settings.Dir(p.Root, p.Data), Status: Ready}
	if settings.Own && !filepath.IsAbs(e.Dir) {
		e.broken(RuleUnusable, "set XDG_DATA_HOME or HOME, or write an absolute path", "the path %q is relative to your directory of extensions, which the environment does not name", settings.Path.Text)
		return e
	}
	if err := p.inside(&e); err != nil {
		e.broken(RuleUnusable, "see path in [extensions."+quoted(id)+"]", "%v", err)
		return e
	}
	e.read()
	for _, step := range []func(*Extension){p.covered, (*Extension).weigh, p.restrain, (*Extension).plan, p.judge} {
		if e.Status == Ready {
			step(&e)
		}
	}
	return e
}

// inside returns an error for a directory that is missing, or outside of the repository behind a link.
func (p Places) inside(e *Extension) error {
	real, err := filepath.EvalSymlinks(e.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the directory %q of the extension is missing", e.Dir)
	}
	if err != nil || e.Settings.Own {
		return err
	}
	if rel, err := filepath.Rel(p.Root, real); err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("the directory %q leads to %q, expected one in the workspace", e.Settings.Path.Text, real)
	}
	return nil
}

// covered marks an extension as failed if its program is a file of the repository outside of its directory: an
// approval does not cover the content of that file.
func (p Places) covered(e *Extension) {
	if e.SEP == nil || e.Settings.Own || !filepath.IsAbs(e.SEP.Entrypoint.Command) {
		return
	}
	command := e.SEP.Entrypoint.Command
	program, err := filepath.EvalSymlinks(command)
	if err != nil {
		return // its start will report the error
	}
	inside := func(dir string) bool {
		real, err := filepath.EvalSymlinks(dir)
		rel, relErr := filepath.Rel(real, program)
		return err == nil && relErr == nil && filepath.IsLocal(rel)
	}
	if inside(p.Root) && !inside(e.Dir) {
		e.broken(RuleUnusable, "move the program into "+e.Dir, "entrypoint.command is %q, a file of the workspace outside of the directory of the extension, which an approval does not cover", command)
	}
}

// broken sets the reason why an extension cannot start.
func (e *Extension) broken(code, hint, format string, args ...any) {
	d := e.Settings.Pos.Error(code, format, args...).WithHint(hint)
	e.Status, e.Problem = Failed, &d
}

// hold sets the reason why a valid extension is not started.
func (e *Extension) hold(status, code, hint, format string, args ...any) {
	d := e.Settings.Pos.Warning(code, format, args...).WithHint(hint)
	e.Status, e.Problem = status, &d
}

// read reads the manifest: manifest.toml, or manifest.json.
func (e *Extension) read() {
	found, problems := ainb.Read(e.Dir)
	if found == nil && len(problems) == 0 {
		e.readSEP()
		return
	}
	if found == nil {
		e.refuse(diagnostics.Errors(problems))
		return
	}
	m := found.Manifest
	e.Contract, e.Version, e.Ainb, e.Eager, e.Notes = ContractAinb, m.Plugin.Version, found, m.Lifecycle.Eager, problems
	e.named(m.Plugin.Name)
}

func (e *Extension) readSEP() {
	const name = "manifest.json"
	data, err := content(e.Dir, name, sep.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		e.broken(RuleUnusable, "bento ext new makes an extension", "the directory %q has neither manifest.toml nor manifest.json", e.Dir)
		return
	}
	if err != nil {
		e.broken(RuleUnusable, "", "the manifest cannot be read: %v", err)
		return
	}
	m, err := sep.Parse(filepath.Join(e.Dir, name), data)
	if err == nil {
		if faults := append(m.Conflicts(), m.Refusals(sep.Platform())...); len(faults) > 0 {
			err = faults
		}
	}
	var faults diagnostics.Problems
	if errors.As(err, &faults) {
		e.refuse(faults)
		return
	}
	if err != nil {
		e.broken(RuleUnusable, "", "%v", err)
		return
	}
	e.Contract, e.Version, e.SEP = ContractSEP, m.Version, m
	e.named(m.ID)
}

// everyRun reports whether every run publishes a topic.
func everyRun(topic string) bool {
	return slices.Contains([]string{report.TopicPlanMade, report.TopicRunStarted, report.TopicTaskFinished, report.TopicCacheStats, report.TopicRunFinished}, topic)
}

// refuse sets the first fault of a manifest as the problem of the extension.
func (e *Extension) refuse(faults []diagnostics.Diagnostic) {
	d := faults[0]
	if more := len(faults) - 1; more > 0 {
		d.Message += fmt.Sprintf(" (and %d more faults)", more)
	}
	e.Status, e.Problem = Failed, &d
}

// named checks that the manifest has the id of the table.
func (e *Extension) named(name string) {
	switch e.ID {
	case name:
	case "":
		e.ID = name
	default:
		e.broken(RuleOtherID, "write [extensions."+quoted(name)+"]", "the manifest in %q is that of %q, expected %q", e.Dir, name, e.ID)
	}
}

// quoted returns an id as a key of TOML.
func quoted(id string) string { return fmt.Sprintf("%q", id) }

// content returns the content of a regular file in a directory. It follows no link out of the directory, and does
// not block on a pipe.
func content(dir, name string, most int64) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%q is not a regular file", name)
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, most+1))
}
