package owndir

import "path/filepath"

// usual has the places in the home directory that the XDG Base Directory Specification uses without its variables.
func usual(variable string) string {
	switch variable {
	case "XDG_CACHE_HOME":
		return ".cache"
	case "XDG_CONFIG_HOME":
		return ".config"
	case "XDG_DATA_HOME":
		return ".local/share"
	}
	return ".local/state"
}

// OfUser returns a path in bento's directory below that of a variable, such as XDG_DATA_HOME, for the user with that
// environment. It returns "" if neither the variable nor HOME is an absolute path.
func OfUser(getenv func(string) string, variable string, below ...string) string {
	dir := getenv(variable)
	if home := getenv("HOME"); !filepath.IsAbs(dir) {
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, usual(variable))
	}
	return filepath.Join(append([]string{dir, "bento"}, below...)...)
}
