package golang_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/golang"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func TestAdd(t *testing.T) {
	adaptertest.Drive(t, "go")
	// A proxy of files, with one module.
	proxy := adaptertest.Project(t, `
-- x.com/shelf/@v/list --
v1.0.0
-- x.com/shelf/@v/v1.0.0.info --
{"Version": "v1.0.0", "Time": "2024-01-01T00:00:00Z"}
-- x.com/shelf/@v/v1.0.0.mod --
module x.com/shelf
`)
	zipModule(t, filepath.Join(proxy, "x.com/shelf/@v/v1.0.0.zip"), "x.com/shelf@v1.0.0/", map[string]string{
		"go.mod": "module x.com/shelf\n", "shelf.go": "package shelf\n",
	})
	root := adaptertest.Project(t, "-- go.mod --\nmodule m\ngo 1.22\n")
	env := adaptertest.Env("GOWORK=", "GOPROXY=file://"+proxy, "GOSUMDB=off", "GOFLAGS=-modcacherw", "GOMODCACHE="+t.TempDir())
	a := golang.New(snapshot.Options{Env: env})
	var log []string
	req := adapters.AddRequest{DishDir: root, DishName: "m", Packages: []string{"x.com/shelf@latest"}, Dev: true, Env: adaptertest.TaskEnv(a, env)}
	if err := a.Add(t.Context(), req, func(l adapters.Log) { log = append(log, l.Message) }); err != nil {
		t.Fatal(err, log)
	}
	mod, err := os.ReadFile(root + "/go.mod")
	if err != nil || !strings.Contains(string(mod), "x.com/shelf v1.0.0") {
		t.Errorf("%v: %s", err, mod)
	}
	if _, err := os.Stat(root + "/go.sum"); err != nil {
		t.Error(err)
	}
	if !strings.Contains(strings.Join(log, "\n"), "no development dependencies") {
		t.Errorf("log %q", log)
	}

	req.Packages = []string{"x.com/none"}
	var failed *adapters.InstallError
	if err := a.Add(t.Context(), req, nil); !errors.As(err, &failed) || failed.Command != "go get -- x.com/none" || failed.Detail == "" {
		t.Errorf("a module that is not there: %v", err)
	}
	work := adaptertest.Project(t, "-- go.work --\ngo 1.22\n")
	var not *adapters.Unsupported
	if err := a.Add(t.Context(), adapters.AddRequest{DishDir: work, Packages: []string{"x.com/shelf"}}, nil); !errors.As(err, &not) {
		t.Errorf("a workspace: %v", err)
	}
}

func TestScaffold(t *testing.T) {
	adaptertest.Drive(t, "go")
	env := adaptertest.Env("GOWORK=", "GOFLAGS=-buildvcs=false")
	a := golang.New(snapshot.Options{Env: env})
	adaptertest.ScaffoldWorks(t, a, env, "build", "check", "test")
	dir := adaptertest.Scaffold(t, a, "0.Up")
	if exit, said := adaptertest.Run(t, a, env, dir, adaptertest.Task(t, a, dir, "build")); exit != 0 {
		t.Errorf("with an odd name: %s", said)
	}
}
