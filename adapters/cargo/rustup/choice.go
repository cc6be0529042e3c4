package rustup

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// maxToolchains is how many installed toolchains Look adds at most.
const maxToolchains = 64

// IsProxy reports whether an executable is a proxy of rustup: a link to rustup, or a copy
// of it in the same directory.
func IsProxy(tool string) bool {
	real, err := filepath.EvalSymlinks(tool)
	if err != nil {
		return false
	}
	if filepath.Base(real) == "rustup" {
		return true
	}
	fi, err1 := os.Stat(real)
	rustup, err2 := os.Stat(filepath.Join(filepath.Dir(tool), "rustup"))
	return err1 == nil && err2 == nil && fi.Size() == rustup.Size()
}

// Home is a directory of rustup at the time that Look read it.
type Home struct {
	overrides map[string]string
	choices   snapshot.Machine[choice] // by directory: what is chosen there
}

// choice is the nearest choice of a toolchain: the name of an override, or a toolchain file. The zero value is none.
type choice struct {
	kind, text string
	in         string // the directory of a file that names another path
	unread     string // the path of a file that cannot be read
}

// found reports whether c is a choice.
func (c choice) found() bool { return c != choice{} }

func (c choice) add(b *probe.Basis) {
	if c.unread != "" {
		b.File(c.unread)
		return
	}
	if c.found() {
		b.Text(c.kind, c.text)
	}
	if c.in != "" {
		b.Text("in", c.in)
	}
}

// Look adds to b everything that rustup's choice depends on in every directory: its settings and the
// installed toolchains. dir is RUSTUP_HOME.
func Look(b *probe.Basis, dir string) *Home {
	settings := filepath.Join(dir, "settings.toml")
	b.File(settings)
	installed, _ := os.ReadDir(filepath.Join(dir, "toolchains"))
	for _, e := range installed[:min(len(installed), maxToolchains)] {
		bin := filepath.Join(dir, "toolchains", e.Name(), "bin")
		b.File(filepath.Join(bin, "rustc"))
		b.File(filepath.Join(bin, "cargo"))
	}
	return &Home{overrides: overrides(settings)}
}

// Choose adds to b the nearest choice in f's directory or above it: `rustup override set`
// or a toolchain file. It adds the choice, not the directory, so that directories with the
// same choice share an answer.
func (h *Home) Choose(b *probe.Basis, f *snapshot.Files) {
	h.nearest(f.Beyond(), f.Dir()).add(b) // rustup looks up to the root of the file system
}

// nearest returns the choice in a directory or above it. It looks at most once at a directory outside of the
// workspace, and, before anything can make files, at one of the workspace.
func (h *Home) nearest(f *snapshot.Files, dir string) choice {
	if f.Holds(dir) && f.Acted() {
		return h.look(f, dir)
	}
	c, _ := h.choices.Of(f.Source, dir, func() (choice, error) { return h.look(f, dir), nil })
	return c
}

// look is nearest on the disk, for the directory itself.
func (h *Home) look(f *snapshot.Files, dir string) choice {
	c, up := h.chosenIn(f, dir), filepath.Dir(dir)
	if c.found() || up == dir {
		return c
	}
	return h.nearest(f, up)
}

// Chosen returns the name of the toolchain that f's directory or one above it requires, ""
// for the default. A toolchain that is named by its path, and a file that only rustup can
// read, are an *adapters.KnownAtRun error.
func (h *Home) Chosen(f *snapshot.Files) (name string, err error) {
	f = f.Beyond() // rustup looks up to the root of the file system
	for at := f.Dir(); ; at = filepath.Dir(at) {
		if name, ok := h.overrides[at]; ok {
			return name, nil
		}
		for _, name := range Names() {
			path := filepath.Join(at, name)
			data, err := f.ReadChoice(path)
			if err != nil {
				return "", err
			} else if data == nil {
				continue
			}
			chosen, err := Parse(path, data)
			if err == nil && chosen.Dir != "" {
				err = &adapters.KnownAtRun{Why: path + " names a toolchain by its path"}
			}
			if err != nil {
				return "", err
			}
			return chosen.Channel, nil
		}
		if at == filepath.Dir(at) {
			return "", nil
		}
	}
}

// chosenIn returns the choice in one directory.
func (h *Home) chosenIn(f *snapshot.Files, dir string) choice {
	if name, ok := h.overrides[dir]; ok {
		return choice{kind: "override", text: name}
	}
	for _, name := range Names() {
		path := filepath.Join(dir, name)
		data, err := f.ReadIfExists(path)
		switch {
		case err != nil:
			return choice{unread: path}
		case data == nil:
			continue
		}
		c := choice{kind: name, text: string(data)}
		if strings.Contains(c.text, "path") { // relative to the directory of the file
			c.in = dir
		}
		return c
	}
	return choice{}
}

// overrides returns the choices that `rustup override set` wrote, none when the file cannot
// be read: rustup itself then fails.
func overrides(settings string) map[string]string {
	data, err := snapshot.NewFiles(filepath.Dir(settings)).Read(settings)
	if err != nil {
		return nil
	}
	doc, _ := tomlfile.ParseManifest(settings, data)
	if doc == nil {
		return nil
	}
	var content struct {
		Overrides map[string]string `toml:"overrides"`
	}
	doc.DecodeKnown(&content)
	return content.Overrides
}

// Missing returns the name of the toolchain that rustup reports as not installed, "" for
// any other message.
func Missing(message string) string {
	for line := range strings.Lines(message) {
		_, rest, found := strings.Cut(line, "toolchain '")
		name, after, quoted := strings.Cut(rest, "'")
		if found && quoted && strings.Contains(after, "is not installed") {
			return name
		}
	}
	return ""
}
