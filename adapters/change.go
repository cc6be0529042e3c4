package adapters

import (
	"context"
	"fmt"
	"io/fs"
)

// Adder adds dependencies to a project.
type Adder interface {
	// Add runs the ecosystem's own command. It changes manifests and lockfiles and may
	// install. A request that the ecosystem cannot fulfil is an *Unsupported error; a tool
	// that failed is an *InstallError.
	Add(ctx context.Context, req AddRequest, log LogFunc) error
}

// AddRequest is the params of add.
type AddRequest struct {
	DishDir  string   `json:"dish_dir"` // absolute
	DishName string   `json:"dish_name"`
	Packages []string `json:"packages"` // as the ecosystem's command takes them; an option is refused
	Dev      bool     `json:"dev,omitempty"`

	// Env is the whole environment for child processes.
	Env Environ `json:"-"`
}

// Unsupported is the error for a request that the ecosystem cannot fulfil.
type Unsupported struct {
	Adapter string // id
	What    string // "adding packages", "packages for development only"
	Hint    string // what to do instead
}

func (u *Unsupported) Error() string {
	return fmt.Sprintf("%s: %s is not supported", u.Adapter, u.What)
}

// Add adds packages with a; when a is no Adder, it returns an *Unsupported error.
func Add(ctx context.Context, a Adapter, req AddRequest, log LogFunc) error {
	if adder, ok := a.(Adder); ok {
		return adder.Add(ctx, req, log)
	}
	return &Unsupported{Adapter: a.Manifest().AdapterID, What: "adding packages", Hint: "write them into the manifest by hand"}
}

// Scaffolder makes new projects.
type Scaffolder interface {
	// Scaffold returns the files of the smallest project that builds, tests and lints, without
	// network and with only the tools that come with the language. name is the name of the dish:
	// [A-Za-z0-9][A-Za-z0-9._-]*.
	Scaffold(name string) ([]ScaffoldFile, error)
}

// ScaffoldFile is one file of a new project.
type ScaffoldFile struct {
	Path string      `json:"path"` // relative to the new dish, forward slashes
	Data []byte      `json:"data"`
	Mode fs.FileMode `json:"mode,omitempty"` // 0 means 0o644
}

// Scaffold returns a's new project; when a is no Scaffolder, it returns an *Unsupported
// error.
func Scaffold(a Adapter, name string) ([]ScaffoldFile, error) {
	if s, ok := a.(Scaffolder); ok {
		return s.Scaffold(name)
	}
	return nil, &Unsupported{Adapter: a.Manifest().AdapterID, What: "making a new project", Hint: "make it with the ecosystem's own command"}
}
