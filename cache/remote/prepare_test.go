package remote

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bentobuild/bento/cache"
)

func TestSecretsOf(t *testing.T) {
	got := SecretsOf([]string{
		"PATH=/usr/bin:/bin", "GITHUB_TOKEN=ghs_0123456789", "npm_config__authToken=abcdefgh", "DB_PASSWORD=short", "HOME=/home/me",
		"AWS_SECRET_ACCESS_KEY=abcdefghijkl", "DEPLOY_PRIVATE_KEY=-----BEGIN KEY-----\nMIIEowIBAAKCAQEA\n\n", "TOKEN=", "SECRET", "MY_TOKEN=ghs_0123456789",
	})
	want := []string{"-----BEGIN KEY-----", "MIIEowIBAAKCAQEA", "ghs_0123456789", "abcdefghijkl", "abcdefgh"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A log that is too large to be searched stays at home.
func TestLargeLogs(t *testing.T) {
	disk, err := cache.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	log := cache.Hash([]byte(strings.Repeat("a line of a log\n", maxMasked/16+1)))
	if err := disk.Add(log.Sum(), log); err != nil {
		t.Fatal(err)
	}
	o := &Options{Place: Place{Write: "trunk"}, Secrets: []string{"hunter2hunter2"}}
	r := &cache.Record{Created: time.Now(), Log: log.Sum(), LogSize: log.Size()}
	got, err := o.Prepare(disk, Outgoing{Record: r})
	if err != nil || got.Log != (cache.Digest{}) || got.LogSize != 0 {
		t.Errorf("%v, %v", got, err)
	}
	o.Secrets = nil
	if got, err = o.Prepare(disk, Outgoing{Record: r}); err != nil || got.Log != r.Log {
		t.Errorf("without secrets: %v, %v", got, err)
	}
}
