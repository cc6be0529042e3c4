package place

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestScopesOf(t *testing.T) {
	github := func(name, ref, event string) map[string]string {
		file := filepath.Join(t.TempDir(), "event.json")
		if err := os.WriteFile(file, []byte(event), 0o644); err != nil {
			t.Fatal(err)
		}
		return map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": name, "GITHUB_REF": ref, "GITHUB_EVENT_PATH": file}
	}
	ci := func(pairs ...string) map[string]string {
		env := map[string]string{"CI": "true"}
		for i := 0; i < len(pairs); i += 2 {
			env[pairs[i]] = pairs[i+1]
		}
		return env
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		configured string
		env        map[string]string
		read       []string
		write      string
	}{
		"a laptop":                {"", nil, []string{"trunk"}, "trunk"},
		"trunk":                   {"trunk", nil, []string{"trunk"}, "trunk"},
		"a scope by hand":         {"pr-7", nil, []string{"pr-7", "trunk"}, "pr-7"},
		"push":                    {"", github("push", "refs/heads/main", `{"number":3}`), []string{"trunk"}, "trunk"},
		"pull request":            {"", github("pull_request", "refs/pull/7/merge", ""), []string{"pr-7", "trunk"}, "pr-7"},
		"its own scope":           {"pr-7", github("pull_request", "refs/pull/7/merge", ""), []string{"pr-7", "trunk"}, "pr-7"},
		"it asks for trunk":       {"trunk", github("pull_request", "refs/pull/7/merge", ""), []string{"pr-7", "trunk"}, ""},
		"it asks for another":     {"pr-8", github("pull_request", "refs/pull/7/merge", ""), []string{"pr-7", "trunk"}, ""},
		"target":                  {"", github("pull_request_target", "refs/heads/main", `{"number":7,"pull_request":{"number":7}}`), []string{"pr-7", "trunk"}, "pr-7"},
		"review":                  {"", github("pull_request_review", "refs/heads/main", `{"pull_request":{"number":9}}`), []string{"pr-9", "trunk"}, "pr-9"},
		"target, no event":        {"", github("pull_request_target", "refs/heads/main", `{"number":`), []string{"trunk"}, ""},
		"target, a pipe":          {"", map[string]string{"GITHUB_EVENT_NAME": "pull_request_target", "GITHUB_EVENT_PATH": pipe}, []string{"trunk"}, ""},
		"comment on a pull":       {"", github("issue_comment", "refs/heads/main", `{"issue":{"number":4,"pull_request":{}}}`), []string{"pr-4", "trunk"}, "pr-4"},
		"comment on an issue":     {"", github("issue_comment", "refs/heads/main", `{"issue":{"number":4}}`), []string{"trunk"}, "trunk"},
		"after a pull request":    {"", github("workflow_run", "refs/heads/main", `{"workflow_run":{"event":"pull_request","pull_requests":[{"number":5}]}}`), []string{"pr-5", "trunk"}, "pr-5"},
		"after that of a fork":    {"", github("workflow_run", "refs/heads/main", `{"workflow_run":{"event":"pull_request","pull_requests":[]}}`), []string{"trunk"}, ""},
		"after a push":            {"", github("workflow_run", "refs/heads/main", `{"workflow_run":{"event":"push"}}`), []string{"trunk"}, "trunk"},
		"a number that is a path": {"", github("pull_request", "refs/pull/../x", ""), []string{"trunk"}, ""},
		"GitLab":                  {"", map[string]string{"CI_MERGE_REQUEST_IID": "12"}, []string{"pr-12", "trunk"}, "pr-12"},
		"GitLab, trunk by file":   {"trunk", map[string]string{"CI_MERGE_REQUEST_IID": "12"}, []string{"pr-12", "trunk"}, ""},
		"GitLab, no number":       {"", map[string]string{"CI_PIPELINE_SOURCE": "merge_request_event"}, []string{"trunk"}, ""},
		"Buildkite, a branch":     {"", map[string]string{"BUILDKITE_PULL_REQUEST": "false"}, []string{"trunk"}, "trunk"},
		"Buildkite":               {"", map[string]string{"BUILDKITE_PULL_REQUEST": "31"}, []string{"pr-31", "trunk"}, "pr-31"},
		"CircleCI":                {"", map[string]string{"CIRCLE_PULL_REQUEST": "https://example/pull/8"}, []string{"pr-8", "trunk"}, "pr-8"},
		"Azure":                   {"", map[string]string{"BUILD_REASON": "PullRequest"}, []string{"trunk"}, ""},
		"Jenkins, a branch name":  {"", map[string]string{"CHANGE_ID": "trunk"}, []string{"trunk"}, ""},
		"another branch":          {"", github("push", "refs/heads/feature", `{"repository":{"default_branch":"main"}}`), []string{"branch-feature", "trunk"}, "branch-feature"},
		"it asks for trunk, too":  {"trunk", github("push", "refs/heads/feature", `{"repository":{"default_branch":"main"}}`), []string{"branch-feature", "trunk"}, ""},
		"main is not trunk":       {"", github("push", "refs/heads/main", `{"repository":{"default_branch":"dev"}}`), []string{"branch-main", "trunk"}, "branch-main"},
		"trunk by its event":      {"", github("push", "refs/heads/dev", `{"repository":{"default_branch":"dev"}}`), []string{"trunk"}, "trunk"},
		"by hand, no event":       {"", github("workflow_dispatch", "refs/heads/feature", `{"repo`), []string{"branch-feature", "trunk"}, "branch-feature"},
		"a branch with slashes":   {"", github("push", "refs/heads/me/x_y", `{"repository":{"default_branch":"main"}}`), []string{"branch-me-x-y_da354cf1e9780fbd", "trunk"}, "branch-me-x-y_da354cf1e9780fbd"},
		"a long branch":           {"", github("push", "refs/heads/"+strings.Repeat("x", 100), `{"repository":{"default_branch":"main"}}`), nil, "-"},
		"a tag":                   {"", github("push", "refs/tags/v1.2", `{"repository":{"default_branch":"main"}}`), []string{"tag-v1.2", "trunk"}, "tag-v1.2"},
		"merge queue":             {"", github("merge_group", "refs/heads/gh-readonly-queue/main/pr-7-0f", `{"repository":{"default_branch":"main"}}`), []string{"queue", "trunk"}, "queue"},
		"merge queue and trunk":   {"trunk", github("merge_group", "refs/heads/gh-readonly-queue/main/pr-7-0f", `{`), []string{"queue", "trunk"}, ""},
		"push of a merge queue":   {"", github("push", "refs/heads/gh-readonly-queue/main/pr-7-0f", `{`), []string{"queue", "trunk"}, "queue"},
		"after a push elsewhere":  {"", github("workflow_run", "refs/heads/main", `{"workflow_run":{"event":"push","head_branch":"x"},"repository":{"default_branch":"main"}}`), []string{"branch-x", "trunk"}, "branch-x"},
		"GitLab, trunk":           {"", ci("CI_COMMIT_BRANCH", "dev", "CI_DEFAULT_BRANCH", "dev"), []string{"trunk"}, "trunk"},
		"GitLab, a branch":        {"", ci("CI_COMMIT_BRANCH", "x", "CI_DEFAULT_BRANCH", "dev"), []string{"branch-x", "trunk"}, "branch-x"},
		"GitLab, a tag":           {"", ci("CI_COMMIT_TAG", "v1", "CI_DEFAULT_BRANCH", "dev"), []string{"tag-v1", "trunk"}, "tag-v1"},
		"GitLab, a merge train":   {"", ci("CI_MERGE_REQUEST_IID", "12", "CI_MERGE_REQUEST_EVENT_TYPE", "merge_train", "CI_PIPELINE_SOURCE", "merge_request_event"), []string{"queue", "trunk"}, "queue"},
		"Woodpecker, a branch":    {"", ci("CI_COMMIT_BRANCH", "x", "CI_REPO_DEFAULT_BRANCH", "dev"), []string{"branch-x", "trunk"}, "branch-x"},
		"Buildkite, trunk":        {"", ci("BUILDKITE_PULL_REQUEST", "false", "BUILDKITE_BRANCH", "dev", "BUILDKITE_PIPELINE_DEFAULT_BRANCH", "dev"), []string{"trunk"}, "trunk"},
		"CircleCI, main":          {"", ci("CIRCLE_BRANCH", "main"), []string{"trunk"}, "trunk"},
		"CircleCI, a branch":      {"", ci("CIRCLE_BRANCH", "dev"), []string{"branch-dev", "trunk"}, "branch-dev"},
		"CircleCI, trunk by file": {"trunk", ci("CIRCLE_BRANCH", "dev"), []string{"trunk"}, "trunk"},
		"Azure, a branch":         {"", map[string]string{"BUILD_REASON": "IndividualCI", "BUILD_SOURCEBRANCH": "refs/heads/x"}, []string{"branch-x", "trunk"}, "branch-x"},
		"Jenkins, trunk":          {"", map[string]string{"JENKINS_URL": "x", "BRANCH_NAME": "dev", "BRANCH_IS_PRIMARY": "true"}, []string{"trunk"}, "trunk"},
		"no CI":                   {"", map[string]string{"BRANCH_NAME": "dev", "TAG_NAME": "x"}, []string{"trunk"}, "trunk"},
	} {
		got, err := ScopesOf(tt.configured, func(name string) string { return tt.env[name] })
		if name == "a long branch" { // its scope is one that may be configured
			tt.write, tt.read = got.Write, []string{got.Write, Trunk}
			if checkScope(got.Write) != nil || len(got.Write) != 64 {
				t.Errorf("%s: %q", name, got.Write)
			}
		}
		if err != nil || !slices.Equal(got.Read, tt.read) || got.Write != tt.write || (got.Write == "") != (got.Why != "") {
			t.Errorf("%s: %+v, %v, want %v, %q", name, got, err, tt.read, tt.write)
		}
	}
	for _, bad := range []string{"a b", "../x", ".x", "a/b", "pr-7\n", string(make([]byte, 65))} {
		if _, err := ScopesOf(bad, func(string) string { return "" }); err == nil {
			t.Errorf("scope %q accepted", bad)
		}
	}
}
