package adapter

import (
	"context"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/wire"
)

var _ adapters.Scaffolder = (*Process)(nil)

// Scaffold implements adapters.Scaffolder, with the timeout of any question. For a plugin without the
// capability it returns an *adapters.Unsupported.
func (p *Process) Scaffold(name string) ([]adapters.ScaffoldFile, error) {
	if !p.manifest.Capabilities.Scaffold {
		return nil, &adapters.Unsupported{Adapter: p.id, What: "new projects", Hint: "make the files by hand, and run bento dish add without --language"}
	}
	var a wire.Scaffolded
	if _, err := p.ask(context.Background(), host.Call{Method: wire.MethodScaffold, Params: wire.Scaffold{Name: name}}, &a); err != nil {
		return nil, err
	}
	var files []adapters.ScaffoldFile
	for _, f := range a.Files {
		file := adapters.ScaffoldFile{Path: f.Path, Data: []byte(f.Text)}
		if f.Executable {
			file.Mode = 0o755
		}
		files = append(files, file)
	}
	return files, nil
}
