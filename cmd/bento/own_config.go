package main

import "path/filepath"

// ownConfig returns the path of the user's own configuration, whether or not it is
// there, and "" where nothing says where it would be.
func (s *session) ownConfig() string {
	dir := s.environ.Get("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home := s.environ.Get("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "bento", "config.toml")
}
