package bucket

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Bounds of what is read of AWS's configuration, in bytes.
const (
	maxProfiles = 1 << 20
	maxToken    = 64 << 10
)

// profile is a section of AWS's configuration files: keys in lower case, and their values.
type profile map[string]string

// environment is where the user's settings are.
type environment func(name string) string

// home returns the user's home directory, "" for none.
func (e environment) home() string { return cmp.Or(e("HOME"), e("USERPROFILE")) }

// file returns the path of one of AWS's files, "" for none.
func (e environment) file(variable, name string) string {
	path := e(variable)
	if rest, below := strings.CutPrefix(path, "~/"); below && e.home() != "" {
		path = filepath.Join(e.home(), rest)
	}
	if path == "" && e.home() != "" {
		path = filepath.Join(e.home(), ".aws", name)
	}
	return path
}

// profile returns the user's profile. A missing file has nothing; a missing profile that the user names is an error.
func (e environment) profile() (profile, error) {
	name := cmp.Or(e("AWS_PROFILE"), e("AWS_DEFAULT_PROFILE"), "default")
	all, found := make(profile), false
	for _, f := range []struct{ path, section string }{
		{e.file("AWS_CONFIG_FILE", "config"), "profile " + name},
		{e.file("AWS_SHARED_CREDENTIALS_FILE", "credentials"), name}, // it wins
	} {
		if f.path == "" {
			continue
		}
		data, err := readFile(f.path, maxProfiles)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("AWS's configuration: %w", err)
		}
		sections := parseProfiles(string(data))
		section := sections[f.section]
		if section == nil && name == "default" {
			section = sections["default"]
		}
		found = found || section != nil
		for key, value := range section {
			all[key] = value
		}
	}
	if !found && name != "default" {
		return nil, fmt.Errorf("AWS's configuration has no profile %q", name)
	}
	return all, nil
}

// parseProfiles reads the format of AWS's configuration files. It ignores what it does not know, as AWS does; nested
// settings too.
func parseProfiles(text string) map[string]profile {
	sections := make(map[string]profile)
	var section profile
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, maxProfiles+1)
	for lines.Scan() {
		line := lines.Text()
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';':
		case trimmed[0] == '[':
			name, _, _ := strings.Cut(trimmed[1:], "]")
			name = strings.Join(strings.Fields(name), " ")
			if sections[name] == nil {
				sections[name] = make(profile)
			}
			section = sections[name]
		case section == nil || line[0] == ' ' || line[0] == '\t':
		default:
			key, value, ok := strings.Cut(trimmed, "=")
			if ok {
				value, _, _ = strings.Cut(value, " #")
				section[strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
			}
		}
	}
	return sections
}

// readFile reads a regular file of at most limit bytes.
func readFile(name string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return nil, cmp.Or(err, error(&fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("it is no regular file")}))
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%q has more than %d bytes", name, limit)
	}
	return data, err
}
