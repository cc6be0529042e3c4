package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/bentobuild/bento/internal/report"
)

// compiled returns the schemas of all documents by the value of their member "schema".
// They are closed: a member that is missing in the schema is an error, as it is undocumented.
var compiled = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	byID := make(map[string]*jsonschema.Schema)
	for _, p := range documents() {
		text, err := json.Marshal(p.schemaOf(true))
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		c := jsonschema.NewCompiler()
		c.DefaultDraft(jsonschema.Draft2020)
		c.AssertFormat()
		id := "urn:bento:" + p.name
		if err := c.AddResource(id, doc); err != nil {
			return nil, err
		}
		s, err := c.Compile(id)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		for _, name := range append([]string{p.name}, p.also...) {
			byID[report.Schema(name)] = s
		}
	}
	return byID, nil
})

// conforms returns an error if a document does not match the schema that it names. It ignores other texts.
func conforms(doc []byte) error {
	var head struct{ Schema string }
	if json.Unmarshal(doc, &head) != nil || !strings.HasPrefix(head.Schema, "bento.") {
		return nil
	}
	schemas, err := compiled()
	if err != nil {
		return err
	}
	s := schemas[head.Schema]
	if s == nil {
		return fmt.Errorf("%s has no published schema", head.Schema)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// checkDocuments checks all JSON documents and events that a command line of bento has written.
func checkDocuments(ts *testscript.TestScript, args []string) {
	if args[0] != "bento" {
		return
	}
	if slices.Contains(args, "--json") {
		ts.Check(conforms([]byte(ts.ReadFile("stdout"))))
	}
	for i, flag := range args[:len(args)-1] {
		name := args[i+1]
		switch {
		case flag == "--report-file" && strings.HasSuffix(name, ".json") && !strings.HasSuffix(name, ".sarif.json"):
			if data, err := os.ReadFile(ts.MkAbs(name)); err == nil {
				ts.Check(conforms(data))
			}
		case flag == "--events":
			text := ""
			if name == "-" {
				text = ts.ReadFile("stdout")
			} else if data, err := readNamed(context.Background(), ts.MkAbs(name)); err == nil { // does not block if it is a pipe
				text = string(data)
			}
			for line := range strings.Lines(text) {
				ts.Check(conforms([]byte(line)))
			}
		}
	}
}

// TestPublishedSchemas: every schema is valid, and names its document.
func TestPublishedSchemas(t *testing.T) {
	schemas, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	for id := range schemas {
		if err := schemas[id].Validate(map[string]any{"schema": id + "0"}); err == nil {
			t.Errorf("%s accepts a document of another schema", id)
		}
	}
	if err := conforms([]byte(`{"schema": "bento.version/1", "version": 1}`)); err == nil {
		t.Error("a document with a wrong member conforms")
	}
}

// TestDocumentsAreClosed: no --json document has a member that the schema lacks.
func TestDocumentsAreClosed(t *testing.T) {
	good := `{"schema": "bento.version/1", "version": "1", "go": "1", "platform": "p", "protocol_version": 1`
	if err := conforms([]byte(good + "}")); err != nil {
		t.Fatal(err)
	}
	if conforms([]byte(good+`, "more": 1}`)) == nil {
		t.Error("a member that is not published conforms")
	}
}
