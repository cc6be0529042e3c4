package main

import (
	"context"
	_ "embed"
	"encoding/json"
)

// npmName is the name of the main package. Those of the platforms are npmName-OS-ARCH.
const npmName = "bento-build"

//go:embed launcher.js
var launcher []byte

// npmManifest is a package.json.
type npmManifest struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Description  string            `json:"description"`
	Homepage     string            `json:"homepage"`
	Repository   string            `json:"repository"`
	License      string            `json:"license"`
	Engines      map[string]string `json:"engines,omitempty"`
	OS           []string          `json:"os,omitempty"`
	CPU          []string          `json:"cpu,omitempty"`
	Unplugged    bool              `json:"preferUnplugged,omitempty"`
	Bin          map[string]string `json:"bin,omitempty"`
	Optional     map[string]string `json:"optionalDependencies,omitempty"`
	PublishFiles []string          `json:"files"`
}

// npm writes the packages: one for each platform with the program, and the main one, which has them as optional
// dependencies, so that a package manager installs the one for its machine.
func (r *release) npm(context.Context) error {
	main := r.npmManifest(npmName, about)
	main.Engines, main.Optional = map[string]string{"node": ">=18"}, make(map[string]string)
	main.Bin, main.PublishFiles = map[string]string{"bento": "bento.js"}, []string{"bento.js"}
	for _, b := range r.builds {
		cpu := map[string]string{"amd64": "x64", "arm64": "arm64"}[b.arch]
		m := r.npmManifest(npmName+"-"+b.os+"-"+cpu, "The program of "+npmName+" for "+b.os+" on "+cpu)
		m.OS, m.CPU, m.Unplugged, m.PublishFiles = []string{b.os}, []string{cpu}, true, []string{"bento"}
		main.Optional[m.Name] = r.version
		if err := r.npmPackage(m, file{path: "bento", data: b.program, program: true}); err != nil {
			return err
		}
	}
	readme, err := r.text("README.md")
	if err != nil {
		return err
	}
	return r.npmPackage(main, file{path: "bento.js", data: launcher, program: true}, file{path: "README.md", data: readme})
}

func (r *release) npmManifest(name, description string) npmManifest {
	return npmManifest{Name: name, Version: r.version, Description: description, Homepage: homepage, Repository: "git+" + homepage + ".git", License: "Apache-2.0"}
}

func (r *release) npmPackage(m npmManifest, files ...file) error {
	manifest, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	licence, err := r.text("LICENSE")
	if err != nil {
		return err
	}
	files = append([]file{{path: "package.json", data: append(manifest, '\n')}, {path: "LICENSE", data: licence}}, files...)
	data, err := tarGz("package/", files, r.date)
	if err != nil {
		return err
	}
	return r.write(m.Name+"-"+r.version+".tgz", data)
}
