package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumented: docs/configuration.md has a row with default and description for every key of the parser's
// tables. Keys of bentos/<name>.toml, and keys of the user's own file that are as in bento.toml, need no row.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(string(text))
	page := strings.Join(rows, "\n")
	count := 0
	for _, f := range Schemas() {
		for _, k := range allKeys(f) {
			name, named := rowName(f.Name, k.path)
			if !named {
				continue
			}
			count++
			description, _ := k.schema["description"].(string)
			if deprecated(f.Schema, k.path) { // in the table of keys without effect
				if !regexp.MustCompile(`\b` + name[strings.LastIndexAny(name, " .")+1:] + `\b`).MatchString(page) {
					t.Errorf("docs/configuration.md does not name %s%s", f.Name, k.path)
				}
				continue
			}
			if !hasRow(rows, name, defaultText(k.schema["default"]), description) {
				t.Errorf("docs/configuration.md: required the row\n| %s | …, %s | %s |", name, defaultText(k.schema["default"]), description)
			}
		}
	}
	if count < 70 {
		t.Errorf("%d keys were looked for; the search is broken", count)
	}
}

// rowsOf returns the rows of the tables of a page, without marks and links.
func rowsOf(page string) (rows []string) {
	link := regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`)
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "|") {
			rows = append(rows, strings.ReplaceAll(link.ReplaceAllString(strings.TrimSpace(line), "$1"), "`", ""))
		}
	}
	return rows
}

// rowName returns the key as the page writes it, and reports whether the page needs a row for it.
func rowName(file, path string) (name string, named bool) {
	path = strings.TrimPrefix(path, ".")
	table, key, deep := strings.Cut(path, ".")
	switch {
	case strings.HasSuffix(path, "[]"), file == "bento", file == "own":
		return "", false
	case path == "toolchain.x":
		return "[toolchain] <runtime>", file == "workspace"
	case strings.HasSuffix(path, ".x"), strings.Contains(path, ".x.x"), file == "adapter" && (path == "tasks" || path == "hooks"):
		return "", false
	case file == "adapter":
		return strings.ReplaceAll(path, ".x.", ".<name>."), path != "toolchain" && path != "install"
	case strings.HasPrefix(path, "adapters."): // as in a file of bentos/adapters
		return "", false
	case file == "workspace":
		if rest, one := strings.CutPrefix(path, "plugins.x."); one {
			return "[plugins.<id>] " + rest, true
		}
		if rest, one := strings.CutPrefix(path, "boundaries.x."); one {
			return "[boundaries] <tag>." + rest, true
		}
		if rest, one := strings.CutPrefix(path, "tools.x."); one {
			return "[tools.<id>] " + rest, true
		}
		if rest, one := strings.CutPrefix(path, "extensions.x."); one {
			return "[extensions.<id>] " + rest, true
		}
		return "[" + table + "] " + key, deep && table != "environments"
	case table == "tasks" && deep:
		parts := strings.Split(key, ".")
		last := parts[len(parts)-1]
		return last, len(parts) == 2 || len(parts) == 3 && parts[1] == "ready"
	case path == "toolchain":
		return "[toolchain]", true
	case file == "dish" && table == "install":
		return "[install] " + key, deep
	default:
		return path, !deep && path != "tasks" || strings.HasPrefix(table, "garnishes")
	}
}

// hasRow reports whether a row has this name, default and description.
func hasRow(rows []string, name, standard, description string) bool {
	for _, row := range rows {
		cells := strings.Split(strings.Trim(row, "|"), " | ")
		if len(cells) >= 3 && strings.TrimSpace(cells[0]) == name && strings.HasSuffix(cells[1], standard) &&
			strings.HasPrefix(strings.TrimSpace(cells[2]), description) {
			return true
		}
	}
	return false
}

// defaultText returns a default as the page writes it, after the type.
func defaultText(v any) string {
	switch v := v.(type) {
	case string:
		return ", \"" + v + "\""
	case json.RawMessage:
		return ", " + string(v)
	default:
		return ""
	}
}
