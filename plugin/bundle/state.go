package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/bentobuild/bento/internal/owndir"
)

// maxState is the largest size of a state file in bytes.
const maxState = 4 << 20

// entry is the record of a tool in the state file.
type entry struct {
	Version     string `json:"version"` // the active one
	Enabled     bool   `json:"enabled"`
	InstalledAt string `json:"installed_at"` // RFC 3339; other programs write decimal seconds since 1970
	Source      string `json:"source"`
}

// states is the content of a state file.
type states map[string]entry

// readState reads a state file. A missing file and a missing entry mean that a tool is enabled. An
// unreadable file is empty, with a warning.
func readState(dir *owndir.Dir) (states, string) {
	data, err := readSmall(dir, stateName, maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ""
	}
	if err != nil {
		return nil, fmt.Sprintf("%s/%s: %v", dir.Path(), stateName, err)
	}
	list, err := parseState(data)
	if err != nil {
		return nil, fmt.Sprintf("%s/%s: %v; all tools count as enabled", dir.Path(), stateName, err)
	}
	return list, ""
}

func parseState(data []byte) (states, error) {
	var doc struct {
		Plugins map[string]struct {
			Version     string          `json:"version"`
			Enabled     *bool           `json:"enabled"`
			InstalledAt json.RawMessage `json:"installed_at"`
			Source      string          `json:"source"`
		} `json:"plugins"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	list := make(states, len(doc.Plugins))
	for id, e := range doc.Plugins {
		at := ""
		if t, ok := installedAt(e.InstalledAt); ok {
			at = t.Format(time.RFC3339)
		}
		list[id] = entry{e.Version, e.Enabled == nil || *e.Enabled, at, e.Source}
	}
	return list, nil
}

// installedAt reads a time in any of its forms: RFC 3339, or seconds since 1970 as a string or a number.
// In UTC its year must have four digits, since RFC 3339 allows no others.
func installedAt(raw json.RawMessage) (time.Time, bool) {
	text := string(raw)
	_ = json.Unmarshal(raw, &text) // a number stays as it is
	t, err := time.Parse(time.RFC3339, text)
	if n, notNumber := strconv.ParseInt(text, 10, 40); notNumber == nil {
		t, err = time.Unix(n, 0), nil
	}
	t = t.UTC()
	return t, err == nil && t.Year() >= 0 && t.Year() < 10000
}

// writeState replaces the state file.
func writeState(dir *owndir.Dir, list states) error {
	if list == nil {
		list = states{}
	}
	data, err := list.text()
	if err != nil {
		return err
	}
	return dir.ReplaceSynced(stateName, 0o644, data)
}

func (s states) text() ([]byte, error) {
	data, err := json.MarshalIndent(map[string]states{"plugins": s}, "", "  ")
	return append(data, '\n'), err
}

// activate makes a version the active one of its tool. It keeps the entry of the same version.
func activate(dir *owndir.Dir, id, version, source string) error {
	list, _ := readState(dir)
	if list == nil {
		list = states{}
	}
	e, ok := list[id]
	if ok && e.Version == version {
		return nil
	}
	list[id] = entry{Version: version, Enabled: !ok || e.Enabled, InstalledAt: time.Now().UTC().Format(time.RFC3339), Source: source}
	return writeState(dir, list)
}
