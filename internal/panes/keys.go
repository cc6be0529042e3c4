package panes

import (
	"unicode/utf8"

	"github.com/bentobuild/bento/plugin/ainb"
)

// keysLine and keysPage are the help for keys: the last row, and the page of "?".
const keysLine = "↑↓ choose  Enter log  / filter  r run  f failed  m messages  ? help  q quit"

var keysPage = []string{
	"↑ ↓ k j       choose a task; scroll the log that has the whole width",
	"PgUp PgDn     scroll the log, and Home End or g G to its ends",
	"Enter         show the log over the whole width; Enter or Esc goes back",
	"/             show only the tasks whose names contain a text; Esc shows all",
	"r             run the chosen task again, or restart the server",
	"R             run all tasks again",
	"f             run what failed again",
	"m             show the messages of bento in place of the log",
	"Ctrl-Z        stop bento watch; fg continues",
	"q Ctrl-C      end the tasks and bento watch",
}

// maxFilter bounds the filter, in bytes.
const maxFilter = 100

// pressed handles typed bytes.
func (p *Panes) pressed(typed []byte) {
	p.mu.Lock()
	var do []func()
	for _, in := range p.reader.Read(typed) {
		if in.Key == nil {
			continue
		}
		if act := p.key(*in.Key); act != nil {
			do = append(do, act)
		}
	}
	p.mu.Unlock()
	for _, act := range do {
		act()
	}
	p.changed()
}

// key handles one key. It returns what the caller has to call without the lock, nil for nothing.
func (p *Panes) key(k ainb.Key) func() {
	m := &p.model
	name := k.Code.Type
	if name == "char" {
		name = k.Code.Ch
	}
	if k.Mods&^1 != 0 { // more than Shift
		name = "mod+" + name
	}
	if m.typing {
		m.edit(k.Code, name)
		return nil
	}
	if m.help {
		if m.help = false; name != "q" {
			return nil
		}
	}
	switch name {
	case "q", "mod+d":
		m.ending = true
		return p.o.Quit
	case "R":
		return p.o.RerunAll
	case "f":
		return p.o.RerunFailed
	case "r":
		if t, _ := m.current(m.listed()); t != nil {
			id := t.ID()
			return func() { p.o.Rerun(id) }
		}
	default:
		m.move(name)
	}
	return nil
}

// edit changes the filter.
func (m *model) edit(c ainb.KeyCode, name string) {
	switch {
	case name == "enter":
		m.typing = false
	case name == "esc":
		m.typing, m.filter = false, ""
	case name == "backspace":
		_, n := utf8.DecodeLastRuneInString(m.filter)
		m.filter = m.filter[:len(m.filter)-n]
	case c.Type == "char" && name == c.Ch && len(m.filter)+len(c.Ch) <= maxFilter:
		m.filter += c.Ch
	}
	m.top, m.up = 0, 0
}

// move handles a key that changes what is shown.
func (m *model) move(name string) {
	switch name {
	case "?":
		m.help = true
	case "/":
		m.typing, m.zoomed, m.saying = true, false, false
	case "m":
		m.saying, m.up = !m.saying, 0
	case "enter":
		m.zoomed = !m.zoomed
	case "esc":
		if !m.zoomed && !m.saying {
			m.filter = ""
		}
		m.zoomed, m.saying, m.up = false, false, 0
	case "up", "k":
		m.step(-1)
	case "down", "j":
		m.step(1)
	case "page_up":
		m.up += max(1, m.page-1)
	case "page_down", " ":
		m.up = max(0, m.up-max(1, m.page-1))
	case "home", "g":
		m.up = maxLog
	case "end", "G":
		m.up = 0
	}
}

// step chooses another task, or scrolls a log that has the whole width.
func (m *model) step(by int) {
	if m.zoomed {
		m.up = max(0, m.up-by)
		return
	}
	list := m.listed()
	if _, row := m.current(list); len(list) > 0 {
		m.chosen = list[min(max(0, row+by), len(list)-1)].ID()
	}
	m.up = 0
}
