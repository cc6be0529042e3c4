package adapters

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Environ is an environment: "NAME=value" strings sorted by name, each name once. It is a
// value; no function changes its argument.
type Environ []string

// strictEnv are the variables of bento's own environment that every child gets, in every language.
var strictEnv = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "COLORTERM", "NO_COLOR",
	"LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "TMP", "TEMP", "XDG_*",
	"CI", "GITHUB_ACTIONS",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
	"http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE",
	"SSH_AUTH_SOCK",
}

// NewEnviron makes an Environ from strings such as those of os.Environ. If a name is set twice, the
// last value applies.
func NewEnviron(env []string) Environ {
	byName := make(map[string]string, len(env))
	for _, kv := range env {
		if name, value, ok := strings.Cut(kv, "="); ok && name != "" {
			byName[name] = value
		}
	}
	return fromMap(byName)
}

func fromMap(byName map[string]string) Environ {
	e := make(Environ, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		e = append(e, name+"="+byName[name])
	}
	return e
}

// Lookup returns the value of name, and whether it is set.
func (e Environ) Lookup(name string) (string, bool) {
	i, found := slices.BinarySearchFunc(e, name, func(kv, name string) int {
		n, _, _ := strings.Cut(kv, "=")
		return strings.Compare(n, name)
	})
	if !found {
		return "", false
	}
	return e[i][len(name)+1:], true
}

// Get returns the value of name, "" when it is not set.
func (e Environ) Get(name string) string {
	v, _ := e.Lookup(name)
	return v
}

// Select returns the variables whose names are in patterns: NAME or PREFIX_*.
func (e Environ) Select(patterns ...string) Environ {
	var out Environ
	for _, kv := range e {
		name, _, _ := strings.Cut(kv, "=")
		if slices.ContainsFunc(patterns, func(p string) bool { return matchName(p, name) }) {
			out = append(out, kv)
		}
	}
	return out
}

// Below returns the variables whose names start with prefix. It shares the array of e.
func (e Environ) Below(prefix string) Environ {
	from, _ := slices.BinarySearchFunc(e, prefix, func(kv, prefix string) int {
		name, _, _ := strings.Cut(kv, "=")
		return strings.Compare(name, prefix)
	})
	to := from
	for to < len(e) && strings.HasPrefix(e[to], prefix) {
		to++
	}
	return e[from:to:to]
}

func matchName(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}

// Strict returns the variables that every child gets, and those that pass matches.
func (e Environ) Strict(pass ...string) Environ {
	return e.Select(append(slices.Clip(strictEnv), pass...)...)
}

// Declared returns the variables of e that adapters with these manifests see: those that
// every child gets, and those that the manifests name.
func (e Environ) Declared(manifests ...*Manifest) Environ {
	var names []string
	for _, m := range manifests {
		names = append(append(names, m.PassEnv...), m.SteeringEnv...)
	}
	return e.Strict(names...)
}

// Or returns e, or other if e is empty.
func (e Environ) Or(other Environ) Environ {
	if len(e) == 0 {
		return other
	}
	return e
}

// With returns e with the variables of set added or replaced.
func (e Environ) With(set map[string]string) Environ {
	if len(set) == 0 {
		return e
	}
	out := make(Environ, len(e), len(e)+len(set))
	copy(out, e)
	for name, value := range set {
		at, found := slices.BinarySearchFunc(out, name, func(kv, name string) int {
			n, _, _ := strings.Cut(kv, "=")
			return strings.Compare(n, name)
		})
		if kv := name + "=" + value; found {
			out[at] = kv
		} else {
			out = slices.Insert(out, at, kv)
		}
	}
	return out
}

// WithPath returns e with dirs (absolute) in front of PATH.
func (e Environ) WithPath(dirs ...string) Environ {
	if len(dirs) == 0 {
		return e
	}
	path := strings.Join(dirs, string(filepath.ListSeparator))
	if old := e.Get("PATH"); old != "" {
		path += string(filepath.ListSeparator) + old
	}
	return e.With(map[string]string{"PATH": path})
}

// LookPath returns the absolute path of the executable that tool means in e's PATH. It
// ignores relative and empty entries of PATH. A missing executable is a *MissingTool error;
// the caller fills in the hint.
func (e Environ) LookPath(tool string) (string, error) {
	for _, dir := range filepath.SplitList(e.Get("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, tool)
		if fi, err := os.Stat(path); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", &MissingTool{Tool: tool}
}
