// Command json-go formats JSON files: as a WebAssembly module it is a tool of bento, as a program it
// formats its standard input, or answers a request.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// request is the input of the tool.
type request struct {
	Paths  []string `json:"paths"`  // of the files, relative to the workspace
	Out    string   `json:"out"`    // where the formatted files go, by their names; "" only checks
	Indent int      `json:"indent"` // blanks; 0: 2
}

// answer formats the files of a request, and returns what the tool answers.
func answer(input string) (string, error) {
	var r request
	if err := json.Unmarshal([]byte(input), &r); err != nil {
		return "", fmt.Errorf("the input is no request: %w", err)
	}
	if r.Indent < 0 || r.Indent > 16 {
		return "", fmt.Errorf("indent is %d, required is 0 to 16", r.Indent)
	}
	if r.Indent == 0 {
		r.Indent = 2
	}
	var odd []string
	for _, path := range r.Paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		formatted, err := format(text, r.Indent)
		if err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		if r.Out != "" {
			err = write(filepath.Join(r.Out, filepath.Base(path)), formatted)
		} else if !bytes.Equal(text, formatted) {
			odd = append(odd, path)
		}
		if err != nil {
			return "", err
		}
	}
	if len(odd) > 0 {
		return "", fmt.Errorf("%d of %d files are not formatted:\n%s", len(odd), len(r.Paths), strings.Join(odd, "\n"))
	}
	return fmt.Sprintf(`{"formatted":%d}`, len(r.Paths)), nil
}

// format keeps the order of members and the texts of numbers and strings.
func format(text []byte, indent int) ([]byte, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(text), "", strings.Repeat(" ", indent)); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

func write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
