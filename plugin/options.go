package plugin

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/creachadair/jrpc2"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// optionsKey is the key of the options in the context of a call.
type optionsKey struct{}

// Settings decodes the options that the user has set into the value that into points to: those of the
// dish that a method is called for, else of the workspace. ctx is that of the method. Without options
// it changes nothing. An adapter takes options if its manifest has an OptionsSchema, which bento
// compares them with.
func Settings(ctx context.Context, into any) error {
	text, _ := ctx.Value(optionsKey{}).(json.RawMessage)
	if len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, into)
}

// withOptions returns the context of a call with its options.
func (s *server) withOptions(ctx context.Context, req *jrpc2.Request) context.Context {
	var p struct {
		Options json.RawMessage `json:"options"`
	}
	_ = req.UnmarshalParams(&p) // the method reports wrong params
	s.mu.Lock()
	defer s.mu.Unlock()
	if req.Method() == wire.MethodInitialize {
		s.options = bytes.Clone(p.Options)
	}
	if p.Options == nil {
		p.Options = s.options
	}
	return context.WithValue(ctx, optionsKey{}, p.Options)
}

// scaffold answers with the files of a new project.
func (s *server) scaffold(_ context.Context, req *jrpc2.Request) (any, error) {
	var p wire.Scaffold
	if err := paramsOf(req, &p); err != nil {
		return nil, err
	}
	files, err := s.a.(adapters.Scaffolder).Scaffold(p.Name)
	if err != nil {
		return nil, err
	}
	answer := wire.Scaffolded{Files: []wire.ScaffoldedFile{}}
	for _, f := range files {
		answer.Files = append(answer.Files, wire.ScaffoldedFile{Path: f.Path, Text: string(f.Data), Executable: f.Mode&0o111 != 0})
	}
	return answer, nil
}
