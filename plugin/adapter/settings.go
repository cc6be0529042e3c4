package adapter

import (
	"encoding/json"
	"fmt"

	"github.com/bentobuild/bento/plugin/host"
)

// settings returns the options for questions about a directory, or "" if they are those of initialize.
func (p *Process) settings(dir string) string {
	if p.o.SettingsOf == nil || dir == "" || !p.manifest.Capabilities.Options {
		return ""
	}
	return p.o.SettingsOf(p.id, dir)
}

// withSettings adds the options of the directory to the params of a call.
func (p *Process) withSettings(c host.Call) (host.Call, error) {
	options := p.settings(c.Dir)
	if options == "" {
		return c, nil
	}
	text, err := json.Marshal(c.Params)
	if err != nil {
		return c, err
	}
	members := make(map[string]json.RawMessage)
	if err := json.Unmarshal(text, &members); err != nil {
		return c, fmt.Errorf("params of %s: %w", c.Method, err)
	}
	members["options"] = json.RawMessage(options)
	c.Params = members
	return c, nil
}
