package main

import (
	"bytes"
	"context"
	_ "embed"
	"slices"
	"strings"
	"text/template"
)

//go:embed bento.rb.tmpl
var formula string

//go:embed mise.toml.tmpl
var mise string

//go:embed aqua.yaml.tmpl
var aqua string

//go:embed gitlab-ci.yml
var gitlab string

// download is an archive for the templates.
type download struct{ Name, URL, SHA256 string }

// entries writes the formula of Homebrew and the entries of mise and aqua, with the checksums of the archives.
func (r *release) entries(context.Context) error {
	of := make(map[string]download)
	for _, p := range r.platforms {
		name := r.archiveName(p)
		sum, err := r.sum(name)
		if err != nil {
			return err
		}
		of[p.os+"_"+p.arch] = download{name, r.downloads() + "/" + name, sum}
	}
	data := map[string]any{
		"Version": r.version, "About": about, "Homepage": homepage, "Of": of,
		"Systems": map[string]string{"darwin": "macos", "linux": "linux"}, "CPUs": map[string]string{"amd64": "intel", "arm64": "arm"},
		"MiseCPUs": map[string]string{"amd64": "x64", "arm64": "arm64"},
	}
	for _, e := range []struct{ name, text string }{{"bento.rb", formula}, {"mise.toml", mise}, {"aqua-registry.yaml", aqua}} {
		t, err := template.New(e.name).Parse(e.text)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := t.Execute(&b, data); err != nil {
			return err
		}
		if err := r.write(e.name, b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// downloads is where the files of the version are.
func (r *release) downloads() string { return homepage + "/releases/download/v" + r.version }

// script writes the script that installs an archive, and the template of GitLab that runs it.
func (r *release) script(context.Context) error {
	template := strings.NewReplacer("__VERSION__", r.version, "__URL__", r.downloads()).Replace(gitlab)
	if err := r.write("bento.gitlab-ci.yml", []byte(template)); err != nil {
		return err
	}
	data, err := r.text("scripts/install.sh")
	if err != nil {
		return err
	}
	mark := []byte("\nversion=${BENTO_VERSION:-}\n")
	if bytes.Count(data, mark) != 1 {
		panic("scripts/install.sh has no line for the version")
	}
	return r.write("install.sh", bytes.Replace(data, mark, slices.Concat([]byte("\nversion=${BENTO_VERSION:-"), []byte(r.version), []byte("}\n")), 1))
}
