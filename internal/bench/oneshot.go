package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// oneshotID is the id of the one-shot tool that this program is when that is its only argument.
const oneshotID = "bench.json"

// oneshot answers one request, as examples/tools/json-go does: it formats files.
func oneshot(in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	if _, err := lines.ReadBytes('\n'); err != nil {
		return err
	}
	fmt.Fprintf(out, `{"type":"handshake","manifest":{"plugin_id":%q,"plugin_version":"1","protocol_version":"rterm.plugin.v1","exposed_tools":["format"]}}`+"\n", oneshotID)
	message, err := lines.ReadBytes('\n')
	if err != nil {
		return err
	}
	var call struct {
		ID      string `json:"request_id"`
		Context struct {
			Root string `json:"repo_root"`
		} `json:"context"`
		Input struct {
			Paths []string `json:"paths"`
			Out   string   `json:"out"`
		} `json:"input"`
	}
	if err := json.Unmarshal(message, &call); err != nil {
		return err
	}
	for _, path := range call.Input.Paths {
		if err := formatFile(filepath.Join(call.Context.Root, path), call.Input.Out); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(out, `{"type":"response","request_id":%q,"status":"ok","output":{"formatted":%d}}`+"\n", call.ID, len(call.Input.Paths))
	return err
}

// formatFile writes the formatted file under its name into the directory dir.
func formatFile(path, dir string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(text), "", "  "); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, filepath.Base(path)), append(b.Bytes(), '\n'), 0o644)
}
