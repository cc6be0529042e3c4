package discovery

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/bounds"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/owner"
	"github.com/bentobuild/bento/internal/state"
)

// RulePluginFile is the rule of the problems of Adapters.
const RulePluginFile = "plugin_file"

// PluginPrefix is the start of the name of an adapter's executable; the id follows.
const PluginPrefix = "bento-adapter-"

// Places are where adapters are searched.
type Places struct {
	Path      string      // the value of $PATH
	Installed []Installed // in order of precedence, after all of Path
	Named     []Named     // named by the user; each precedes all others of its id
	// Saved has the names in the directories of Path from one invocation to the next. It may be nil.
	Saved *state.Parts
}

// Named is an adapter whose file the user names: a build in progress, which need not be on PATH.
type Named struct {
	By   string // the setting that names it, "your environment"
	Path string
}

// Installed is an adapter that the user has installed with bento.
type Installed struct {
	Path   string // of its executable or module, whose name is that of one on PATH
	Active bool   // if false, it is used only if its digest is pinned
}

// Adapters lists the executables in places that may be adapters, in order of precedence. It starts none. If several
// have the same id, the one with the pinned digest is used; otherwise a later one is started only if the earlier ones
// fail. It lists a skipped file with the reason: the configuration forbids it, the repository may have brought it, an
// untrusted user can replace it, or it is not executable. The user, root and the owner of the workspace are trusted.
// It returns a warning for a bad file. digest returns the SHA-256 of a file in hexadecimal, or else the reason why it
// cannot; Adapters calls it for pinned files.
func Adapters(in Places, cfg *config.Workspace, digest func(path string) string) ([]adapters.Candidate, []diagnostics.Diagnostic) {
	p := &cfg.Plugins
	s := &search{rules: rules{
		prefix: PluginPrefix, noun: "plugin", table: "plugins", ids: "adapter id, expected [a-z0-9][a-z0-9_-]*", valid: config.ValidPluginID, rule: RulePluginFile,
		disable: p.Disable, allow: p.Allowlist, restrict: p.Restrict, pin: func(id string) dish.Text { return p.ByID[id].SHA256 }, lock: "bento plugin lock",
		contract: adapters.ContractV1,
		consent:  "install it in a directory outside, or allow this content in your own configuration: [plugins.%s] sha256",
	}}
	found, problems := s.run(in, cfg, digest)
	for i := range found {
		defined := slices.IndexFunc(cfg.Adapters, func(a config.Adapter) bool { return a.ID == found[i].ID })
		if defined >= 0 && found[i].Skip == "" {
			found[i].Skip, found[i].SkipReason = adapters.SkipShadowed, "the workspace defines the adapter at "+cfg.Adapters[defined].Pos.String()
		}
	}
	return found, problems
}

// toolPrefix is the start of the name of a tool's executable or module; the id follows.
const toolPrefix = "bento-tool-"

// RuleToolFile is the rule of the problems of Tools.
const RuleToolFile = "tool_file"

// Tools is Adapters for tools.
func Tools(path string, cfg *config.Workspace, digest func(path string) string) ([]adapters.Candidate, []diagnostics.Diagnostic) {
	t := &cfg.Tools
	s := &search{rules: rules{
		prefix: toolPrefix, noun: "tool", table: "tools", ids: "id of a tool, expected [a-z0-9][a-z0-9._-]*", valid: config.ValidToolID, rule: RuleToolFile,
		disable: t.Disable, allow: t.Allowlist, restrict: t.Restrict, pin: t.PinOf, lock: "bento plugin lock",
		contract: adapters.ContractOneShot,
		consent:  "install it in a directory outside, or declare it in bento.toml: [tools.%q]",
	}}
	return s.run(Places{Path: path}, cfg, digest)
}

// run searches the directories of PATH, then the installed plugins.
func (s *search) run(in Places, cfg *config.Workspace, digest func(path string) string) ([]adapters.Candidate, []diagnostics.Diagnostic) {
	s.differing = make(map[int]dish.Text)
	s.own, s.digest, s.ways, s.area = cfg.Own, digest, owner.Of(cfg.Root).Ways(), bounds.Of(cfg.Root)
	for _, n := range in.Named {
		s.by = n.By
		s.file(n.Path, strings.TrimPrefix(filepath.Base(n.Path), s.prefix))
	}
	s.by = ""
	named := len(s.found)
	names := openPathNames(in.Saved)
	for _, dir := range filepath.SplitList(in.Path) {
		real, err := filepath.EvalSymlinks(dir) // /bin is often a link to /usr/bin
		if !filepath.IsAbs(dir) || err != nil || slices.Contains(s.dirs, real) {
			continue
		}
		s.dirs = append(s.dirs, real)
		for _, name := range names.Of(real) {
			if suffix, ok := strings.CutPrefix(name, s.prefix); ok {
				s.file(filepath.Join(dir, name), suffix)
			}
		}
	}
	in.Saved.Set(namesPart, names.current)
	for _, f := range in.Installed {
		id := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(f.Path), s.prefix), ".wasm")
		pin := s.pin(id)
		if f.Active && pin.Text == "" || pin.Text != "" && (f.Active || s.digest(f.Path) == pin.Text) {
			s.file(f.Path, strings.TrimPrefix(filepath.Base(f.Path), s.prefix))
		}
	}
	for i := named; i < len(s.found); i++ {
		c := &s.found[i]
		j := slices.IndexFunc(s.found[:named], func(o adapters.Candidate) bool { return o.ID == c.ID })
		if j >= 0 && c.Skip == "" {
			c.Skip, c.SkipReason = adapters.SkipShadowed, in.Named[j].By+" names "+s.found[j].Path
		}
	}
	s.choosePinned()
	return s.found, diagnostics.Sorted(s.problems)
}

// choosePinned marks the candidates that another one with the pinned digest replaces, and warns about
// those with another digest that none replaces.
func (s *search) choosePinned() {
	for i, pin := range s.differing {
		c := &s.found[i]
		if slices.ContainsFunc(s.found, func(o adapters.Candidate) bool { return o.ID == c.ID && o.Skip == "" && o.SHA256 == pin.Text }) {
			c.Skip, c.SkipReason, c.SkipHint = adapters.SkipShadowed, c.SkipReason+", which another copy has", ""
			continue
		}
		s.warn(c.Path, c.SkipReason, c.SkipHint)
	}
}

// rules decide which files are found, and which of them are used.
type rules struct {
	prefix, noun, table, ids string
	rule                     string // of the problems
	contract                 string // of executables
	valid                    func(id string) bool
	disable, allow           []dish.Text
	restrict                 bool
	pin                      func(id string) dish.Text
	lock                     string // the command that pins
	consent                  string // the advice about a file that the repository may have brought
}

// search is one search of PATH.
type search struct {
	rules
	by       string // the setting that names the file; "" if it was found by a search
	own      string // the file of the user's own configuration, "" for none
	digest   func(path string) string
	ways     *owner.Ways
	area     *bounds.Area
	dirs     []string // visited directories, free of links
	found    []adapters.Candidate
	files    []fs.FileInfo // of found; nil for a broken link
	problems []diagnostics.Diagnostic
	// differing are the pins of the candidates with another digest, by their index in found.
	differing map[int]dish.Text
}

// file checks one file whose name is the prefix and suffix.
func (s *search) file(path, suffix string) {
	if isBackup(suffix) {
		return
	}
	c := adapters.Candidate{Path: path, Contract: s.contract}
	id, isWasm := strings.CutSuffix(suffix, ".wasm")
	if isWasm {
		c.Contract = adapters.ContractWasm
	}
	c.ID = strings.TrimSuffix(id, ".exe")
	fi, err := os.Stat(path)
	if err == nil && s.seen(c.ID, fi) {
		return // the same file in a linked directory
	}
	hint := ""
	switch {
	case !s.valid(c.ID):
		s.warn(path, fmt.Sprintf("%q is no %s", c.ID, s.ids), "rename it")
		return
	case errors.Is(err, fs.ErrNotExist):
		c.SkipReason = "it is a link to a file that does not exist"
	case err != nil:
		c.SkipReason = err.Error()
	case !fi.Mode().IsRegular():
		c.SkipReason = "it is not a regular file"
	case !isWasm && fi.Mode()&0o111 == 0:
		c.SkipReason, hint = "it is not executable", "chmod +x "+path
	}
	if c.SkipReason != "" {
		c.Skip = adapters.SkipUnusable
		s.warn(path, c.SkipReason, hint)
	} else {
		s.forbid(&c)
	}
	s.files = append(s.files, fi)
	s.found = append(s.found, c)
}

// isBackup reports whether a file is a backup copy of an editor or package manager.
func isBackup(name string) bool {
	return slices.ContainsFunc([]string{"~", ".bak", ".orig", ".old", ".swp", ".tmp", ".rej"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// seen reports whether a file was found under this id before. One program may be several plugins
// under several ids.
func (s *search) seen(id string, fi fs.FileInfo) bool {
	for i, old := range s.files {
		if s.found[i].ID == id && os.SameFile(old, fi) {
			return true
		}
	}
	return false
}

// forbid sets the reason why c must not be started, if it has one.
func (s *search) forbid(c *adapters.Candidate) {
	byID := func(t dish.Text) bool { return t.Text == c.ID }
	switch i := slices.IndexFunc(s.disable, byID); {
	case i >= 0:
		c.Skip, c.SkipReason = adapters.SkipDisabled, s.table+".disable names it at "+s.disable[i].Pos.String()
		return
	case s.restrict && !slices.ContainsFunc(s.allow, byID):
		c.Skip, c.SkipReason = adapters.SkipNotAllowed, s.table+".allowlist does not name it"
		return
	}
	if s.by != "" { // the user names this file, so neither its place nor its content matters
		if why, hint := s.exposed(c); why != "" {
			c.Skip, c.SkipReason, c.SkipHint = adapters.SkipNotTrusted, why, hint
			s.warn(c.Path, why, hint)
		}
		return
	}
	pin := s.pin(c.ID)
	why, hint := s.brought(c, pin)
	if why == "" {
		if why, hint = s.exposed(c); pin.Text != "" {
			c.SHA256 = pin.Text
			if why, hint = s.differs(c.Path, pin), ""; why != "" {
				c.Skip, c.SkipReason, c.SkipHint = adapters.SkipNotTrusted, why, s.pinHint(c, pin)
				s.differing[len(s.found)] = pin
				return
			}
		}
	}
	if why != "" {
		c.Skip, c.SkipReason, c.SkipHint = adapters.SkipNotTrusted, why, hint
		s.warn(c.Path, why, hint)
	}
}

// brought returns how the repository may have brought c. Such a plugin is not started, since activating an
// environment of a clone is no consent to its plugins. A pin in the user's own configuration, which no
// repository brings, is consent to that content only.
func (s *search) brought(c *adapters.Candidate, pin dish.Text) (why, hint string) {
	if !s.area.Reached(c.Path) {
		return "", ""
	}
	if pin.Text != "" && s.own != "" && pin.Pos.File == s.own && !s.area.Reached(s.own) {
		c.Exposed = true
		return "", ""
	}
	return "it lies in the workspace or in the repository around it, or a link leads there",
		fmt.Sprintf(s.consent, c.ID)
}

// exposed returns how other users could replace c, and the command that prevents it.
func (s *search) exposed(c *adapters.Candidate) (why, hint string) {
	e, err := s.ways.To(c.Path)
	switch {
	case err != nil:
		c.Exposed = true
		return fmt.Sprintf("its permissions cannot be read: %v", err), ""
	case e != nil:
		c.Exposed = true
		return e.Why, fmt.Sprintf("%s; or pin its present content: %s %s", e.Fix, s.lock, c.ID)
	}
	return "", ""
}

// differs returns how a file differs from its pin, "" when it does not.
func (s *search) differs(path string, pin dish.Text) string {
	switch sum := s.digest(path); {
	case sum == pin.Text:
		return ""
	case len(sum) != len(pin.Text):
		return fmt.Sprintf("it cannot be read to compare it with the sha256 at %s", pin.Pos)
	default:
		return fmt.Sprintf("its sha256 is %s, expected %s at %s", sum, pin.Text, pin.Pos)
	}
}

// pinHint returns the advice about a candidate whose digest differs from its pin.
func (s *search) pinHint(c *adapters.Candidate, pin dish.Text) string {
	if pin.Pos.File != config.LockFile {
		return "if you trust its present content, change the sha256 there"
	}
	return fmt.Sprintf("if you trust its present content: %s %s", s.lock, c.ID)
}

func (s *search) warn(path, why, hint string) {
	s.problems = append(s.problems, diagnostics.Pos{}.Warning(s.rule, "%s is not used as a %s: %s", path, s.noun, why).WithHint(hint))
}
