package adapter

import "testing"

// Misbehaving returns the ids of the behaviours that fail, each with the code of its failure.
func Misbehaving() map[string]string {
	codes := make(map[string]string)
	for _, b := range behaviours() {
		if b.code != "" {
			codes[b.id] = string(b.code)
		}
	}
	return codes
}

// Install makes the test binary a plugin with this id in dir, and returns its path.
func Install(t testing.TB, dir, id string) string { return install(t, dir, id).Path }
