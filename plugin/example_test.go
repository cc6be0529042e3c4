package plugin_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin"
)

// zig is an adapter with every optional method.
type zig struct{ plugin.Defaults }

func (zig) Manifest() *adapters.Manifest {
	return &adapters.Manifest{AdapterID: "zig", DisplayName: "Zig", FingerprintFiles: []string{"build.zig", "build.zig.zon"}}
}

func (zig) Detect(_ context.Context, dir string) (bool, error) {
	_, err := os.Stat(filepath.Join(dir, "build.zig"))
	return err == nil, nil
}

func Example() {
	fmt.Println(zig{}.Manifest().AdapterID)
	// The main function of an adapter is: plugin.Main(zig{})

	// Output: zig
}

// Tasks returns tasks that depend on the files of the directory. It names the file that decides.
func (zig) Tasks(_ context.Context, dir string) (adapters.TasksAnswer, error) {
	file := filepath.Join(dir, "build.zig")
	list := []adapters.Task{{Name: "build", Run: "zig build", Outputs: []string{"zig-out/**"}}}
	if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), `"test"`) {
		list = append(list, adapters.Task{Name: "test", Run: "zig build test", DependsOn: []string{"build"}})
	}
	return adapters.TasksAnswer{Tasks: list, Reads: adapters.ReadsOf(file)}, nil
}

func ExampleMain_tasks() {
	answer, err := zig{}.Tasks(context.Background(), "none")
	fmt.Println(answer.Tasks[0].Run, len(answer.Tasks), err)

	// Output: zig build 1 <nil>
}

// Links returns the dishes that the manifest depends on by path, each with its line.
func (zig) Links(_ context.Context, dir string) (adapters.LinksAnswer, error) {
	file := filepath.Join(dir, "build.zig.zon")
	answer := adapters.LinksAnswer{Reads: adapters.ReadsOf(file)}
	text, err := os.ReadFile(file)
	if err != nil {
		return answer, nil // a project without dependencies
	}
	for i, line := range strings.Split(string(text), "\n") {
		if _, path, ok := strings.Cut(line, `.path = "`); ok {
			path, _, _ = strings.Cut(path, `"`)
			answer.Links = append(answer.Links, adapters.Link{Dir: filepath.Join(dir, path), File: file, Line: i + 1})
		}
	}
	return answer, nil
}

func ExampleMain_links() {
	answer, err := zig{}.Links(context.Background(), "none")
	fmt.Println(len(answer.Links), err)

	// Output: 0 <nil>
}

// InstallScope returns the files that decide whether an install is up to date, and the directories that it
// makes.
func (zig) InstallScope(_ context.Context, dir string) (adapters.Scope, error) {
	return adapters.Scope{Dir: dir, Files: []string{filepath.Join(dir, "build.zig.zon")}, Made: []string{".zig-cache"}, Command: "zig build --fetch"}, nil
}

func ExampleMain_installScope() {
	scope, err := zig{}.InstallScope(context.Background(), "/w")
	fmt.Println(scope.Dir, scope.Made, err)

	// Output: /w [.zig-cache] <nil>
}

// InstallCommands returns commands, which bento runs for the install.
func (zig) InstallCommands(context.Context, adapters.InstallRequest) ([][]string, error) {
	return [][]string{{"zig", "build", "--fetch"}}, nil
}

func ExampleMain_installCommands() {
	commands, err := zig{}.InstallCommands(context.Background(), adapters.InstallRequest{DishDir: "/w", DishName: "w"})
	fmt.Println(commands, err)

	// Output: [[zig build --fetch]] <nil>
}

// Add runs the ecosystem's own command.
func (zig) Add(ctx context.Context, req adapters.AddRequest, log adapters.LogFunc) error {
	for _, p := range req.Packages {
		cmd := exec.CommandContext(ctx, "zig", "fetch", "--save", p)
		cmd.Dir = req.DishDir
		out, err := cmd.CombinedOutput()
		if log != nil {
			log(adapters.Log{Level: "info", Stream: "stderr", Message: string(out)})
		}
		if err != nil {
			return &adapters.MissingTool{Tool: "zig", Hint: "install it from its site"}
		}
	}
	return nil
}

func ExampleMain_add() {
	err := zig{}.Add(context.Background(), adapters.AddRequest{DishDir: "/w", DishName: "w"}, nil)
	fmt.Println(err)

	// Output: <nil>
}

// ResolvedToolchain returns the installed version, so that bento can compare it with a pin.
func (zig) ResolvedToolchain(ctx context.Context, dir string) (*adapters.ResolvedToolchain, error) {
	version := strings.TrimSpace(plugin.ExecOutput(ctx).Stdout)
	return &adapters.ResolvedToolchain{Fingerprint: "zig " + version, Version: version}, nil
}

func ExampleMain_resolvedToolchain() {
	resolved, err := zig{}.ResolvedToolchain(context.Background(), "/w")
	fmt.Printf("%q %v\n", resolved.Fingerprint, err)

	// Output: "zig " <nil>
}
