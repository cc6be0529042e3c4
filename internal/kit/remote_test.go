package kit

import (
	"testing"

	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/workspace"
)

// A class that no result can have is an error, and not a miss for ever.
func TestRemoteClassIsChecked(t *testing.T) {
	var w config.Workspace
	w.Cache.Remote = config.Remote{URL: "https://cache.example", Class: "a\nb"}
	if r, problems := FindRemote(&workspace.Host{}, &w, config.CacheMode{}); r != nil || len(problems) != 1 {
		t.Errorf("%v, %v", r, problems)
	}
}

// A server is known if the user's own configuration or environment names it, with the service of a bucket. bento.toml alone makes none known.
func TestRemoteIsKnown(t *testing.T) {
	for name, tt := range map[string]struct {
		set  config.Remote
		env  string
		want bool
	}{
		"the repository's":              {config.Remote{URL: "https://cache.example"}, "", false},
		"both":                          {config.Remote{URL: "https://cache.example/a", OwnURL: "https://cache.example"}, "", true},
		"another one":                   {config.Remote{URL: "https://evil.example", OwnURL: "https://cache.example"}, "", false},
		"the environment's":             {config.Remote{URL: "https://evil.example"}, "https://cache.example", true}, // which takes its place
		"a bucket":                      {config.Remote{URL: "s3://bucket/x", OwnURL: "s3://bucket"}, "", true},
		"a bucket, elsewhere":           {config.Remote{URL: "s3://bucket", Endpoint: "https://evil.example", OwnURL: "s3://bucket"}, "", false},
		"a bucket, elsewhere, by env":   {config.Remote{URL: "s3://bucket", Endpoint: "https://evil.example"}, "s3://bucket", false},
		"a bucket, elsewhere, by both":  {config.Remote{URL: "s3://bucket", Endpoint: "https://minio.example", OwnURL: "s3://bucket", OwnEndpoint: "https://minio.example"}, "", true},
		"a directory of the repository": {config.Remote{URL: "file:///home/me/.ssh"}, "", false},
	} {
		h := &workspace.Host{}
		if tt.env != "" {
			h.Environ = append(h.Environ, remoteEnv+"="+tt.env)
		}
		var w config.Workspace
		w.Cache.Remote = tt.set
		w.Cache.Remote.Trust = config.TrustSigned
		w.Cache.Remote.Keys = []config.PublicKey{{Text: "ci:HUkTFatBu2D+VK2H2j+BlqB40/R0X59m5wUkt0co2Hk="}}
		var mode config.CacheMode
		mode.Local.Read, mode.Local.Write, mode.Remote.Read, mode.Remote.Write = true, true, true, true
		r, problems := FindRemote(h, &w, mode)
		if len(problems) > 0 || r == nil {
			t.Fatalf("%s: %v", name, problems)
		}
		if r.Known != tt.want {
			t.Errorf("%s: known %v, want %v", name, r.Known, tt.want)
		}
		if r.Write {
			t.Errorf("%s: is written to without a private key", name)
		}
		w.Cache.Remote.Trust = config.TrustServer
		if r, _ = FindRemote(h, &w, mode); r.Write != tt.want {
			t.Errorf("%s, trusted: written to %v, want %v", name, r.Write, tt.want)
		}
	}
}
