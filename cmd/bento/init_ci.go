package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/pattern"
)

// releases is where the files of every version are, in a directory with its name.
const releases = "https://github.com/bentobuild/bento/releases/download"

// shards returns the number of jobs that share the tasks. It is small: each job costs the time of its setup.
func (doc *initialised) shards() int { return min(4, 1+len(doc.Dishes)/5) }

// workflow returns the workflow for a service.
func (doc *initialised) workflow(below *clone.Clone, service, version string) newFile {
	f := newFile{Path: ".github/workflows/bento.yml", Text: doc.github(branch(below), version), mode: 0o644}
	if service == "gitlab" {
		f.Path, f.Text = ".gitlab-ci.yml", doc.gitlab(version)
	}
	if version == "" {
		doc.Problems = append(doc.Problems, diagnostics.Diagnostic{
			Severity: diagnostics.Warning, Rule: "unpublished_bento", File: f.Path,
			Message: "this is a development build of bento, which no job can download: the file expects bento on PATH",
			Hint:    "name a released version: bento init --ci " + service + " --bento-version 0.2.0",
		})
	}
	f.absent = "add to it the job that bento init --dry-run --ci " + service + " prints"
	return f
}

// plainBranch matches branch names without special characters of workflow filters and YAML.
var plainBranch = pattern.New(`^[A-Za-z][A-Za-z0-9._/-]{0,99}$`)

// branch returns the checked-out branch, "main" if there is none or its name is not plain.
func branch(below *clone.Clone) string {
	head, err := below.Read(".git/HEAD", 1<<12)
	name, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
	if err != nil || !ok || !plainBranch.MatchString(name) {
		return "main"
	}
	return name
}

// setups returns the steps of GitHub Actions that install the tools of the dishes. The machines of GitHub
// have Rust and PHP.
func (doc *initialised) setups() string {
	const go1 = "      - uses: actions/setup-go@v5\n        with:\n          go-version: stable\n"
	steps := map[string]string{
		"python":     "      - uses: actions/setup-python@v5\n        with:\n          python-version: \"3.x\"\n",
		"python-uv":  "      - uses: astral-sh/setup-uv@v5\n",
		"ruby":       "      - uses: ruby/setup-ruby@v1\n        with:\n          ruby-version: \"3.4\"\n",
		"maven":      "      - uses: actions/setup-java@v4\n        with:\n          distribution: temurin\n          java-version: \"21\"\n",
		"deno":       "      - uses: denoland/setup-deno@v2\n",
		"bun":        "      - uses: oven-sh/setup-bun@v2\n",
		"node-npm":   "      - uses: actions/setup-node@v4\n        with:\n          node-version: lts/*\n",
		"node-pnpm":  "      - uses: actions/setup-node@v4\n        with:\n          node-version: lts/*\n",
		"node-yarn":  "      - uses: actions/setup-node@v4\n        with:\n          node-version: lts/*\n",
		"gradle":     "      - uses: actions/setup-java@v4\n        with:\n          distribution: temurin\n          java-version: \"21\"\n",
		"corepack":   "      - run: corepack enable\n",
		"everywhere": go1,
	}
	text := steps["everywhere"]
	var done []string
	add := func(id string) {
		if step := steps[id]; step != "" && !slices.Contains(done, step) {
			done = append(done, step)
			text += step
		}
	}
	for _, d := range doc.Dishes {
		if d.Language == nil {
			continue
		}
		add(*d.Language)
		if *d.Language == "node-pnpm" || *d.Language == "node-yarn" {
			add("corepack")
		}
	}
	return text
}

// github returns a workflow of GitHub Actions. A pull request runs the tasks that its changes concern; a push
// to the branch runs all tasks, and fills the cache from which pull requests start.
func (doc *initialised) github(branch, version string) string {
	matrix, key, shard := "", "", ""
	env := "          BASE: ${{ github.base_ref }}\n"
	if n := doc.shards(); n > 1 {
		matrix = "    strategy:\n      fail-fast: false\n      matrix:\n        shard: [" + numbers(n) + "]\n"
		key = "          cache-key: ${{ matrix.shard }}\n"
		shard = fmt.Sprintf(` --shard "$SHARD/%d"`, n)
		env += "          SHARD: ${{ matrix.shard }}\n"
	}
	return `# Made by bento init --ci github.
name: bento

on:
  pull_request:
  push:
    branches: [` + branch + `]

permissions:
  contents: read

concurrency:
  group: bento-${{ github.ref }}
  cancel-in-progress: ${{ github.event_name == 'pull_request' }}

jobs:
  bento:
    runs-on: ubuntu-latest
` + matrix + `    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0 # --since needs the merge base
` + doc.setups() + githubInstall(version, key) + `      - run: bento ci --keep-going --allow-empty` + shard + ` ${BASE:+--since "origin/$BASE"}
        env:
` + env
}

// githubInstall returns the step that installs a version of bento and restores its cache. with has more inputs
// of the action.
func githubInstall(version, with string) string {
	if version == "" {
		return "      - run: bento version # install bento above this line\n"
	}
	step := "      - uses: bentobuild/bento@v" + version + "\n"
	if with != "" {
		step += "        with:\n" + with
	}
	return step
}

// numbers returns the numbers from 1 to n.
func numbers(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprint(i+1))
	}
	return strings.Join(list, ", ")
}

// gitlab returns a pipeline of GitLab. The template of a release has the installation and the cache.
func (doc *initialised) gitlab(version string) string {
	include, extends, parallel, shard := "", "", "", ""
	if version != "" {
		include = "include:\n  - remote: " + releases + "/v" + version + "/bento.gitlab-ci.yml\n\n"
		extends = "  extends: .bento\n"
	}
	if n := doc.shards(); n > 1 {
		parallel = fmt.Sprintf("  parallel: %d\n", n)
		shard = ` --shard "$CI_NODE_INDEX/$CI_NODE_TOTAL"`
	}
	return "# Made by bento init --ci gitlab.\n" + include + `bento:
` + extends + `  # This image has Go. Add what the other languages need, or name an image that has it.
  image: golang:latest
` + parallel + `  variables:
    GIT_DEPTH: "0" # --since needs the merge base
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
    - bento ci --keep-going --allow-empty` + shard + ` ${CI_MERGE_REQUEST_DIFF_BASE_SHA:+--since "$CI_MERGE_REQUEST_DIFF_BASE_SHA"}
`
}

// checks returns the command of a hook. It prefers check and lint, which are fast, and leaves out the tasks
// that the commit does not concern.
func (doc *initialised) checks() string {
	var names []string
	for _, want := range [][]string{{"check", "lint"}, {"test"}, {"build"}} {
		for _, name := range want {
			if slices.ContainsFunc(doc.Dishes, func(d dishRow) bool { return slices.Contains(d.Tasks, name) }) {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			break
		}
	}
	if len(names) == 0 {
		names = []string{"check"}
	}
	return "bento run " + strings.Join(names, " ") + " --allow-empty"
}

// hooksPath matches the setting by which git uses another directory of hooks.
var hooksPath = pattern.New(`(?im)^\s*hookspath\s*=`)

// hook returns the file of a pre-commit hook: the configuration of the tool pre-commit, or a hook of git in
// this clone.
func (doc *initialised) hook(below *clone.Clone, kind string) (newFile, error) {
	if kind == "pre-commit" {
		f := newFile{Path: ".pre-commit-config.yaml", mode: 0o644, absent: "add to its repos what bento init --dry-run --hooks pre-commit prints"}
		f.Text = `# Made by bento init --hooks pre-commit; pre-commit install enables it.
repos:
  - repo: local
    hooks:
      - id: bento
        name: bento
        entry: ` + doc.checks() + ` --since HEAD
        language: system
        pass_filenames: false
        require_serial: true
`
		return f, nil
	}
	mode, err := below.Mode(".git")
	if err == nil && mode.IsDir() {
		_, err = below.Mode(".git/HEAD")
	} else if err == nil {
		err = errors.New("it is no directory")
	}
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("it is not the top of a git repository")
		}
		return newFile{}, notFound("unusable_directory", fmt.Sprintf("--hooks git: %q has no hooks: %v", doc.Root, err),
			"use --hooks pre-commit, or name the top of the repository with -C")
	}
	if data, _ := below.Read(".git/config", 1<<20); hooksPath.MatchString(string(data)) {
		return newFile{}, notFound("unusable_directory", "--hooks git: git's core.hooksPath names another directory for hooks",
			"add to its pre-commit the command that bento init --dry-run --hooks pre-commit prints")
	}
	f := newFile{Path: ".git/hooks/pre-commit", mode: 0o755, absent: "add to it the command that bento init --dry-run --hooks git prints"}
	f.Text = `#!/bin/sh
# Made by bento init --hooks git. git commit --no-verify leaves it out.
unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE GIT_PREFIX
if git rev-parse --quiet --verify HEAD >/dev/null; then
    exec ` + doc.checks() + ` --since HEAD
fi
exec ` + doc.checks() + `
`
	return f, nil
}
