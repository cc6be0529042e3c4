package place

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Queue is the scope of merge queues and merge trains: what they build has several changes, and is not merged yet.
const Queue = "queue"

// A branch of GitHub's merge queue has this prefix.
const queuePrefix = "gh-readonly-queue/"

// branches are the variables with the branch of a job, and with the branch that is trunk, "" if the service has none.
var branches = [...]struct{ branch, trunk string }{
	{"CI_COMMIT_BRANCH", "CI_DEFAULT_BRANCH"},      // GitLab
	{"CI_COMMIT_BRANCH", "CI_REPO_DEFAULT_BRANCH"}, // Woodpecker
	{"BUILDKITE_BRANCH", "BUILDKITE_PIPELINE_DEFAULT_BRANCH"},
	{"DRONE_BRANCH", "DRONE_REPO_BRANCH"},
	{"CIRRUS_BRANCH", "CIRRUS_DEFAULT_BRANCH"},
	{"CIRCLE_BRANCH", ""}, {"BITBUCKET_BRANCH", ""}, {"BUILD_SOURCEBRANCH", ""}, {"TRAVIS_BRANCH", ""}, {"APPVEYOR_REPO_BRANCH", ""},
	{"BRANCH_NAME", ""}, // Jenkins
}

// tags are the variables with the tag of a job.
var tags = [...]string{"CI_COMMIT_TAG", "BUILDKITE_TAG", "DRONE_TAG", "CIRRUS_TAG", "CIRCLE_TAG", "BITBUCKET_TAG", "TRAVIS_TAG", "APPVEYOR_REPO_TAG_NAME", "TAG_NAME"}

// branchJob returns the job of a branch, of a tag or of a merge queue, which is no pull request.
func branchJob(env func(string) string) job {
	if env("GITHUB_ACTIONS") != "" || env("GITHUB_EVENT_NAME") != "" {
		return githubBranch(env)
	}
	if env("CI") == "" && env("JENKINS_URL") == "" && env("BUILD_REASON") == "" { // Azure has the last
		return job{}
	}
	if env("CI_MERGE_REQUEST_EVENT_TYPE") == "merge_train" {
		return queueJob()
	}
	for _, name := range tags {
		if tag := env(name); tag != "" {
			return tagJob(tag)
		}
	}
	for _, b := range branches {
		name, trunk := env(b.branch), ""
		if b.trunk != "" {
			trunk = env(b.trunk)
		}
		if name != "" && (b.trunk == "" || trunk != "") {
			return refJob(name, trunk, env("BRANCH_IS_PRIMARY") == "true")
		}
	}
	return job{}
}

func githubBranch(env func(string) string) job {
	ref := env("GITHUB_REF")
	e, _ := eventOf(env) // without it, the name of the branch decides
	if r := e.WorkflowRun; r != nil && r.HeadBranch != "" {
		ref = "refs/heads/" + r.HeadBranch // such a workflow often uses what that run has built
	}
	if env("GITHUB_EVENT_NAME") == "merge_group" {
		return queueJob()
	}
	return refJob(ref, e.Repository.DefaultBranch, false)
}

// refJob returns the job of a ref, or of a branch. trunk is the branch that is trunk, "" if that is unknown.
func refJob(ref, trunk string, isTrunk bool) job {
	if tag, ok := strings.CutPrefix(ref, "refs/tags/"); ok {
		return tagJob(tag)
	}
	name := strings.TrimPrefix(ref, "refs/heads/")
	switch {
	case strings.HasPrefix(name, queuePrefix):
		return queueJob()
	case name == "" || isTrunk || name == trunk || trunk == "" && (name == "main" || name == "master" || name == Trunk):
		return job{}
	}
	return job{what: fmt.Sprintf("the branch %q", name), scope: "branch-" + scopeWord(name), guessed: trunk == ""}
}

func tagJob(tag string) job {
	return job{what: fmt.Sprintf("the tag %q", tag), scope: "tag-" + scopeWord(tag)}
}

func queueJob() job { return job{what: "a merge queue", scope: Queue} }

// mostPlain is the length of the longest name that is part of a scope as it is.
const mostPlain = 40

// scopeWord returns a name as a part of a scope. Different names have different words: one that is not the name itself ends
// with "_" and a part of the name's digest, and no name with "_" is its own word.
func scopeWord(name string) string {
	plain := strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '-' || r == '.' {
			return r
		}
		return '-'
	}, name)
	if plain == name && len(name) <= mostPlain {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return plain[:min(len(plain), mostPlain)] + "_" + hex.EncodeToString(sum[:8])
}
