package adapters

import (
	"errors"
	"fmt"
)

// Packages are the names of one tool in package managers; "" where a manager has none.
type Packages struct {
	Apt, Dnf, Zypper, Pacman, Apk, Brew string
	Else                                string // the hint without any of them
}

// Hint returns how to install the tool with the package manager on the PATH of env.
func (p Packages) Hint(env Environ) string {
	managers := []struct{ tool, install, name string }{
		{"brew", "brew install", p.Brew},
		{"apt-get", "apt-get install", p.Apt},
		{"dnf", "dnf install", p.Dnf},
		{"zypper", "zypper install", p.Zypper},
		{"pacman", "pacman -S", p.Pacman},
		{"apk", "apk add", p.Apk},
	}
	for _, m := range managers {
		if m.name == "" {
			continue
		}
		if _, err := env.LookPath(m.tool); err == nil {
			return fmt.Sprintf("install it with %q", m.install+" "+m.name)
		}
	}
	return p.Else
}

// Missing adds the hint to a *MissingTool. It returns any other error as it is.
func (p Packages) Missing(err error, env Environ) error {
	var m *MissingTool
	if !errors.As(err, &m) {
		return err
	}
	return &MissingTool{Tool: m.Tool, Hint: p.Hint(env)}
}
