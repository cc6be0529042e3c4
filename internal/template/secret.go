package template

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// secretNames are the names of files in which tools keep keys and passwords.
var secretNames = []string{".env", ".netrc", ".pypirc", "auth.json", "credentials", "credentials.toml", ".git-credentials", ".pgpass", ".htpasswd"}

// secretEnds are the ends of such names.
var secretEnds = []string{".p12", ".pfx", ".jks", ".keystore", ".kdbx"}

// secretMarks are parts of the content of such files, with what they are.
var secretMarks = []struct{ mark, what string }{
	{"PRIVATE KEY-----", "a private key"}, {":_authToken=", "a token of a registry"}, {":_password=", "a password of a registry"},
}

// secret returns what makes a file one with secrets, "" for none. A value that comes from the environment is none.
func secret(name string, data []byte) string {
	base := strings.TrimSuffix(path.Base(name), Suffix)
	sample := slices.Contains([]string{".env.example", ".env.sample", ".env.template", ".env.dist"}, base)
	switch {
	case slices.Contains(secretNames, base), strings.HasPrefix(base, ".env.") && !sample:
		return "a file with secrets by its name"
	case slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(strings.ToLower(base), end) }):
		return "a file with keys by its name"
	}
	for _, m := range secretMarks {
		if _, after, found := bytes.Cut(data, []byte(m.mark)); found && !bytes.HasPrefix(after, []byte("${")) {
			return m.what
		}
	}
	return ""
}
