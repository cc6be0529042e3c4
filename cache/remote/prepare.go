package remote

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bentobuild/bento/cache"
)

// Public returns a copy of r without what stays at home: the name of the host, the ingredients of its key and, if so
// wished, the log. The copy shares outputs and blobs with r.
func Public(r *cache.Record, noLog bool) *cache.Record {
	c := *r
	c.Host, c.Pack, c.Ingredients = "", cache.Digest{}, cache.Digest{}
	if noLog {
		c.Log, c.LogSize = cache.Digest{}, 0
	}
	c.Small = make(map[cache.Digest][]byte, len(r.Small))
	need := map[cache.Digest]bool{c.Log: true}
	for i := range c.Outputs {
		need[c.Outputs[i].Digest] = true
	}
	for d, data := range r.Small {
		if need[d] {
			c.Small[d] = data
		}
	}
	return &c
}

// Prepare returns the record of out as it leaves this machine: Public, with the Secrets of o masked in its log, and checked. A masked
// log is a blob of disk. The error is ErrPrivate if the result must not leave.
func (o *Options) Prepare(disk *cache.Disk, out Outgoing) (*cache.Record, error) {
	if o.Write == "" {
		return nil, fmt.Errorf("%w: there is no scope to write", ErrPrivate)
	}
	r := Public(out.Record, out.NoLog)
	if err := checkRecord(r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPrivate, err)
	}
	if len(o.Secrets) == 0 || r.Log == (cache.Digest{}) {
		return r, nil
	}
	if err := maskLog(disk, r, o.Secrets); err != nil {
		return nil, &LocalError{err}
	}
	return r, nil
}

const (
	maxMasked = 16 << 20 // of the largest log that is searched, in bytes; a larger one stays at home
	mask      = "***"
)

// maskLog replaces secrets in the log of r.
func maskLog(disk *cache.Disk, r *cache.Record, secrets []string) error {
	if r.LogSize > maxMasked {
		*r = *Public(r, true)
		return nil
	}
	f, err := r.With(disk).Open(r.Log)
	if err != nil {
		return err
	}
	defer f.Close()
	log, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	masked := log
	for _, secret := range secrets {
		masked = bytes.ReplaceAll(masked, []byte(secret), []byte(mask))
	}
	if bytes.Equal(masked, log) {
		return nil
	}
	*r = *Public(r, true) // no longer needs the log itself
	r.Log, r.LogSize = cache.Sum(masked), int64(len(masked))
	return r.With(disk).Add(r.Log, cache.Hash(masked))
}

// secretWords are in the names of variables whose values are secrets.
var secretWords = [...]string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY", "API_KEY", "ACCESS_KEY", "PRIVATE_KEY", "SIGN_KEY", "SIGNING_KEY"}

const minSecret = 8 // bytes; a shorter value is in logs for other reasons

// IsSecret reports whether a variable has a secret, by its name.
func IsSecret(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc(secretWords[:], func(word string) bool { return strings.Contains(name, word) })
}

// SecretsOf returns the values of an environment, "NAME=value", that no other machine may see, by the names of their variables. A
// longer one comes before one that it contains.
func SecretsOf(environ []string) []string {
	var list []string
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if !IsSecret(name) {
			continue
		}
		for line := range strings.SplitSeq(value, "\n") { // of a private key each
			if line = strings.TrimSpace(line); len(line) >= minSecret {
				list = append(list, line)
			}
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(list)
}
