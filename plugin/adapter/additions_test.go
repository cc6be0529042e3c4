package adapter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
)

// extend is a plugin with every addition of bento to the contract. An install of /w/app and detect wait
// for each other. Any other install waits until it is cancelled.
func (k *kid) extend() {
	k.result(k.read(), k.manifest(`"capabilities":{"required_toolchain":false,"tasks":true,"links":true,"install_scope":true,"add":true,"cancel":true},`+
		`"parallel":2,"derived_paths":["zig-out/**"],"nested":false,`))
	for {
		q := k.read()
		if about := q.Params["dir"]; q.Method == "detect" && about == "/w/app" || q.Params["dish_dir"] == "/w/app" && q.Method == "install" {
			k.answer(k.read())
		}
		switch q.Method {
		case "tasks":
			k.result(q, `{"tasks":[{"name":"build","run":"zig build -C `+q.Params["dir"].(string)+`"}],"members":["/w/lib"],"reads":["/w/build.zig"]}`)
		case "links":
			k.result(q, `{"links":[{"dir":"/w/lib","file":"/w/app/build.zig.zon","line":3,"dev":true,"private":true,"deep":true}],"provides":["zig:app"]}`)
		case "install_scope":
			k.result(q, `{"dir":"/w","files":["/w/build.zig.zon"],"made":["zig-pkg"],"command":"zig fetch"}`)
		case "install":
			if q.Params["dish_dir"] != "/w/app" && k.read().Method == "$/cancel" {
				k.fail(q, `{"code":-32800,"message":"cancelled"}`)
			} else {
				k.result(q, "null")
			}
		case "add":
			k.add(q)
		default:
			k.answer(q)
		}
	}
}

func (k *kid) add(q query) {
	switch packages := fmt.Sprint(q.Params["packages"]); packages {
	case "[broken]":
		k.fail(q, `{"code":2001,"message":"no such package","data":{"exit_status":1,"command":"zig fetch broken"}}`)
	case "[fatal]":
		os.Exit(7)
	default:
		k.log("info", fmt.Sprint(packages, " ", q.Params["dish_name"], " ", q.Params["dish_dir"], " ", q.Params["dev"]))
		k.result(q, "null")
	}
}

func extended(t *testing.T) adapters.Adapter {
	t.Helper()
	set := start(t, Options{Numbers: short()}, install(t, t.TempDir(), "extends"))
	if len(set.Adapters()) == 0 {
		t.Fatal(set.Warnings())
	}
	return set.Adapters()[0]
}

// TestAdditions checks that each addition of the protocol has the same effect as the ability of a built-in
// adapter.
func TestAdditions(t *testing.T) {
	a := extended(t)
	ctx := t.Context()
	tasks, err := adapters.Tasks(ctx, a, "/w/app")
	wantTasks := adapters.TasksAnswer{
		Tasks: []adapters.Task{{Name: "build", Run: "zig build -C /w/app"}}, Members: []string{"/w/lib"}, Reads: adapters.ReadsOf("/w/build.zig"),
	}
	if diff := cmp.Diff(wantTasks, tasks); diff != "" || err != nil {
		t.Errorf("tasks: %v (-want +got):\n%s", err, diff)
	}
	links, err := adapters.Links(ctx, a, "/w/app")
	wantLinks := adapters.LinksAnswer{
		Links: []adapters.Link{{Dir: "/w/lib", File: "/w/app/build.zig.zon", Line: 3, Dev: true, Private: true, Deep: true}}, Provides: []string{"zig:app"},
	}
	if diff := cmp.Diff(wantLinks, links); diff != "" || err != nil {
		t.Errorf("links: %v (-want +got):\n%s", err, diff)
	}
	scope, err := adapters.InstallScope(ctx, a, "/w/app")
	wantScope := adapters.Scope{Dir: "/w", Files: []string{"/w/build.zig.zon"}, Made: []string{"zig-pkg"}, Command: "zig fetch"}
	if diff := cmp.Diff(wantScope, scope); diff != "" || err != nil {
		t.Errorf("install_scope: %v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{"zig-out/**"}, a.Manifest().DerivedPaths); diff != "" {
		t.Errorf("derived_paths (-want +got):\n%s", diff)
	}
	if nested := a.Manifest().Nested; nested == nil || *nested {
		t.Error("nested: false is lost")
	}
	// parallel: neither the install nor detect ends before the plugin has received both requests.
	installed := make(chan error, 1)
	go func() { installed <- a.Install(ctx, adapters.InstallRequest{DishDir: "/w/app"}, nil) }()
	if found, err := a.Detect(ctx, "/w/app"); !found || err != nil {
		t.Errorf("detect during an install: %v, %v", found, err)
	}
	if err := <-installed; err != nil {
		t.Errorf("install: %v", err)
	}
	// cancel: the plugin keeps running.
	soon, cancel := context.WithCancel(ctx)
	go func() { installed <- a.Install(soon, adapters.InstallRequest{DishDir: "/w/lib"}, nil) }()
	cancel()
	if err := <-installed; !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled install: %v", err)
	}
	if _, err := a.Detect(ctx, "/w/lib"); err != nil {
		t.Errorf("after it: %v", err)
	}
}

func TestAdd(t *testing.T) {
	a := extended(t)
	var logs []string
	add := func(packages string, dev bool) error {
		req := adapters.AddRequest{DishDir: "/w/app", DishName: "app", Packages: strings.Fields(packages), Dev: dev}
		return adapters.Add(t.Context(), a, req, func(l adapters.Log) { logs = append(logs, l.Message) })
	}
	for _, dev := range []bool{false, true} {
		if err := add("one two", dev); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff([]string{"[one two] app /w/app <nil>", "[one two] app /w/app true"}, logs); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	var failed *adapters.InstallError
	if err := add("broken", false); !errors.As(err, &failed) || failed.Command != "zig fetch broken" || failed.Detail != "no such package" {
		t.Errorf("a tool that fails: %v", err)
	}
	var crashed *adapters.Failure
	if err := add("fatal", false); !errors.As(err, &crashed) || crashed.Code != adapters.Crashed || crashed.Call != "add" {
		t.Errorf("a plugin that exits: %v", err)
	}
	set := start(t, Options{Numbers: short()}, install(t, t.TempDir(), "good"))
	var unsupported *adapters.Unsupported
	if err := adapters.Add(t.Context(), set.Adapters()[0], adapters.AddRequest{}, nil); !errors.As(err, &unsupported) || unsupported.Adapter != "good" {
		t.Errorf("a plugin without add: %v", err)
	}
}
