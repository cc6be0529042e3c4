package foreign

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/pattern"
)

// releases is where the files of every version are, in a directory with its name.
const releases = "https://github.com/bentobuild/bento/releases/download"

// NewFile is a file that bento init writes.
type NewFile struct {
	Path string      `json:"path"`
	Text string      `json:"text"`
	Mode fs.FileMode `json:"-"`
	// Absent is the hint of the error for a file that already exists, "" for none.
	Absent string `json:"-"`
}

// Services returns the services that Workflow knows.
func Services() []string { return []string{"github", "gitlab"} }

// Workflow returns the file by which a service runs the tasks of src with a released version of bento. Without a
// version the jobs expect bento on PATH.
func Workflow(src Source, service, version string) NewFile {
	f := NewFile{Path: ".github/workflows/bento.yml", Text: github(src, version), Mode: 0o644}
	if service == "gitlab" {
		f.Path, f.Text = ".gitlab-ci.yml", gitlab(src, version)
	}
	f.Absent = "add to it the job that bento init --dry-run --ci " + service + " prints"
	return f
}

// shards returns the number of jobs that share the tasks. It is small: each job costs the time of its setup.
func shards(src Source) int { return min(4, 1+len(src.Dishes)/5) }

// plainBranch matches branch names without special characters of workflow filters and YAML.
var plainBranch = pattern.New(`^[A-Za-z][A-Za-z0-9._/-]{0,99}$`)

// branch returns the checked-out branch, "main" if there is none or its name is not plain.
func branch(files *clone.Clone) string {
	head, err := files.Read(".git/HEAD", 1<<12)
	name, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
	if err != nil || !ok || !plainBranch.MatchString(name) {
		return "main"
	}
	return name
}

// setups returns the steps of GitHub Actions that install the tools of the dishes. The machines of GitHub
// have Rust and PHP.
func setups(dishes []Dish) string {
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
	for _, d := range dishes {
		for _, language := range d.Languages {
			add(language)
			if language == "node-pnpm" || language == "node-yarn" {
				add("corepack")
			}
		}
	}
	return text
}

// github returns a workflow of GitHub Actions. A pull request runs the tasks that its changes concern; a push
// to the branch runs all tasks, and fills the cache from which pull requests start. A merge queue runs all tasks, too.
func github(src Source, version string) string {
	matrix, with, shard := "", "", ""
	env := "          BASE: ${{ github.base_ref }}\n"
	c := githubRemote(src.Remote)
	if c.used {
		with = "          cache: \"false\" # the remote cache has the results\n"
	}
	if n := shards(src); n > 1 {
		matrix = "    strategy:\n      fail-fast: false\n      matrix:\n        shard: [" + numbers(n) + "]\n"
		if !c.used {
			with = "          cache-key: ${{ matrix.shard }}\n"
		}
		shard = fmt.Sprintf(` --shard "$SHARD/%d"`, n)
		env += "          SHARD: ${{ matrix.shard }}\n"
	}
	return `# Made by bento init --ci github.
name: bento

on:
  pull_request:
  merge_group:
  push:
    branches: [` + branch(src.Files) + `]

permissions:
  contents: read
` + c.permissions + `
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
` + setups(src.Dishes) + c.steps + githubInstall(version, with) + `      # With --sandbox, tasks can read only the files that they declare.
      - run: bento ci --keep-going --allow-empty` + shard + c.flag + ` ${BASE:+--since "origin/$BASE"}
        env:
` + env + c.env
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
func gitlab(src Source, version string) string {
	include, extends, parallel, shard := "", "", "", ""
	c := gitlabRemote(src.Remote)
	if version != "" {
		include = "include:\n  - remote: " + releases + "/v" + version + "/bento.gitlab-ci.yml\n\n"
		extends = "  extends: .bento\n"
	}
	if n := shards(src); n > 1 {
		parallel = fmt.Sprintf("  parallel: %d\n", n)
		shard = ` --shard "$CI_NODE_INDEX/$CI_NODE_TOTAL"`
	}
	return "# Made by bento init --ci gitlab.\n" + include + `bento:
` + extends + `  # This image has Go. Add what the other languages need, or name an image that has it.
  image: golang:latest
` + parallel + c.steps + `  variables:
    GIT_DEPTH: "0" # --since needs the merge base
` + c.env + `  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
` + c.trunk + `  script:
` + c.script + `    # With --sandbox, tasks can read only the files that they declare.
    - bento ci --keep-going --allow-empty` + shard + c.flag + ` ${CI_MERGE_REQUEST_DIFF_BASE_SHA:+--since "$CI_MERGE_REQUEST_DIFF_BASE_SHA"}
`
}
