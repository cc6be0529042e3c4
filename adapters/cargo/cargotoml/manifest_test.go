package cargotoml

import "testing"

// TestSplitsFeatures follows https://doc.rust-lang.org/cargo/reference/resolver.html#resolver-versions.
func TestSplitsFeatures(t *testing.T) {
	for text, want := range map[string]bool{
		"[workspace]\nresolver = \"2\"":                                                       true,
		"[workspace]\nresolver = \"3\"":                                                       true,
		"[workspace]\nresolver = \"1\"":                                                       false,
		"[workspace]":                                                                         false,
		"[workspace.package]\nedition = \"2024\"":                                             false,
		"[package]\nedition = \"2021\"":                                                       true,
		"[package]\nedition = \"2024\"\nresolver = \"1\"":                                     false,
		"[package]\nedition = \"2018\"":                                                       false,
		"[package]\nedition = \"2018\"\nresolver = \"2\"":                                     true,
		"[package]\nname = \"x\"":                                                             false,
		"[package]\nedition.workspace = true\n[workspace.package]\nedition = \"2021\"":        true,
		"[package]\nedition = \"2021\"\n[workspace]\nresolver = \"1\"\n[dependencies]\na = 1": false,
	} {
		m, err := Parse("/w/Cargo.toml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if m.SplitsFeatures() != want {
			t.Errorf("%q: want %v", text, want)
		}
	}
}
