package codeowners

import "strings"

// matcher compares patterns with a path, in a bounded number of steps.
type matcher struct {
	steps int // that are left; below 0 a result is not valid
}

// match reports whether the elements of a pattern match those of a path. "**" matches any number of elements.
func (m *matcher) match(parts, names []string) bool {
	part, name := 0, 0
	star, from := -1, 0 // the last "**", and the first name after those that it matches
	for name < len(names) {
		if m.steps--; m.steps < 0 {
			return false
		}
		switch {
		case part < len(parts) && parts[part] == "**":
			star, from = part, name
			part++
		case part < len(parts) && m.matchName(parts[part], names[name]):
			part++
			name++
		case star >= 0:
			from++
			part, name = star+1, from
		default:
			return false
		}
	}
	for part < len(parts) && parts[part] == "**" {
		part++
	}
	return part == len(parts)
}

// matchName reports whether an element of a pattern matches a name. "*" matches any characters, "?" one, and a
// backslash quotes the next character. The name "" is any new file: only stars match it.
func (m *matcher) matchName(part, name string) bool {
	if name == "" {
		return strings.Trim(part, "*") == ""
	}
	at, i := 0, 0
	star, from := -1, 0
	for i < len(name) {
		if m.steps--; m.steps < 0 {
			return false
		}
		literal := at
		if at+1 < len(part) && part[at] == '\\' {
			literal++
		}
		switch {
		case at < len(part) && part[at] == '*':
			star, from = at, i
			at++
		case at < len(part) && (part[at] == '?' || part[literal] == name[i]):
			at = literal + 1
			i++
		case star >= 0:
			from++
			at, i = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(part[at:], "*") == ""
}
