package place

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Trunk is the scope that all read.
const Trunk = "trunk"

// Scopes are those that a run reads and writes.
type Scopes struct {
	Read  []string // the preferred first
	Write string   // "" for none
	Why   string   // why nothing is written, "" if something is
}

// ScopesOf returns the scopes of a run. configured is remote_scope, "" if it is not set. The job of a pull request never writes a
// scope but its own, and reads none of another pull request, whatever is configured: what is configured is in the pull request.
// env returns a variable of the environment.
func ScopesOf(configured string, env func(string) string) (Scopes, error) {
	if configured != "" {
		if err := checkScope(configured); err != nil {
			return Scopes{}, err
		}
	}
	number, pull := pullRequest(env)
	own := "pr-" + number
	switch {
	case !pull && (configured == "" || configured == Trunk):
		return Scopes{Read: []string{Trunk}, Write: Trunk}, nil
	case !pull:
		return Scopes{Read: []string{configured, Trunk}, Write: configured}, nil
	case number == "":
		return Scopes{Read: []string{Trunk}, Why: "this is the job of a pull request whose number is unknown"}, nil
	case configured == "" || configured == own:
		return Scopes{Read: []string{own, Trunk}, Write: own}, nil
	}
	return Scopes{Read: []string{own, Trunk}, Why: fmt.Sprintf("remote_scope is %q, and the job of a pull request writes %q alone", configured, own)}, nil
}

func checkScope(s string) error {
	ok := s != "" && len(s) <= 64
	for i, c := range []byte(s) {
		ok = ok && ('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || i > 0 && (c == '-' || c == '_' || c == '.'))
	}
	if !ok {
		return fmt.Errorf("remote_scope %q: want 1 to 64 letters, digits and \"-\", \"_\", \".\", such as %q or %q", s, Trunk, "pr-7")
	}
	return nil
}

// numbers are the variables with the number of a pull request, for systems other than GitHub. Some set "false" for none.
var numbers = [...]string{
	"CI_MERGE_REQUEST_IID", "CI_EXTERNAL_PULL_REQUEST_IID", // GitLab
	"BUILDKITE_PULL_REQUEST", "CIRCLE_PR_NUMBER", "SYSTEM_PULLREQUEST_PULLREQUESTNUMBER", "SYSTEM_PULLREQUEST_PULLREQUESTID",
	"CHANGE_ID", // Jenkins
	"DRONE_PULL_REQUEST", "CI_COMMIT_PULL_REQUEST", "BITBUCKET_PR_ID", "TRAVIS_PULL_REQUEST", "APPVEYOR_PULL_REQUEST_NUMBER", "CIRRUS_PR",
}

// pullRequest reports whether the environment is that of the job of a pull request, and returns its number, "" if it is unknown.
func pullRequest(env func(string) string) (number string, pull bool) {
	if env("GITHUB_ACTIONS") != "" || env("GITHUB_EVENT_NAME") != "" { // Gitea and Forgejo, too
		return githubPull(env)
	}
	for _, name := range numbers {
		if value := env(name); value != "" && value != "false" {
			return digits(value), true
		}
	}
	if link := env("CIRCLE_PULL_REQUEST"); link != "" {
		return digits(link[strings.LastIndexByte(link, '/')+1:]), true
	}
	if env("BUILD_REASON") == "PullRequest" || env("CI_PIPELINE_SOURCE") == "merge_request_event" {
		return "", true
	}
	return "", false
}

// digits returns s if it is a number of a pull request, "" otherwise.
func digits(s string) string {
	if n, err := strconv.ParseUint(s, 10, 63); err != nil || n == 0 || strconv.FormatUint(n, 10) != s {
		return ""
	}
	return s
}

// maxEvent is the size of the largest description of an event that is read, in bytes.
const maxEvent = 16 << 20

// event is what GitHub says about why a workflow runs.
type event struct {
	Number      uint64                   `json:"number"`
	PullRequest *struct{ Number uint64 } `json:"pull_request"`
	Issue       *struct {
		Number      uint64           `json:"number"`
		PullRequest *json.RawMessage `json:"pull_request"`
	} `json:"issue"`
	WorkflowRun *struct {
		Event        string                    `json:"event"`
		PullRequests []struct{ Number uint64 } `json:"pull_requests"`
	} `json:"workflow_run"`
}

func githubPull(env func(string) string) (number string, pull bool) {
	name := env("GITHUB_EVENT_NAME")
	byName := strings.HasPrefix(name, "pull_request")
	if rest, ok := strings.CutPrefix(env("GITHUB_REF"), "refs/pull/"); ok {
		number, _, _ = strings.Cut(rest, "/")
		return digits(number), true
	}
	if !byName && name != "issue_comment" && name != "workflow_run" {
		return "", false
	}
	var e event
	data, err := read("/", env("GITHUB_EVENT_PATH"), maxEvent)
	if err == nil {
		err = json.Unmarshal(data, &e)
	}
	if err != nil {
		return "", true // one of a pull request, as far as is known
	}
	switch {
	case e.PullRequest != nil:
		return text(max(e.PullRequest.Number, e.Number)), true
	case e.Issue != nil && e.Issue.PullRequest != nil:
		return text(e.Issue.Number), true
	case e.WorkflowRun != nil && strings.HasPrefix(e.WorkflowRun.Event, "pull_request"):
		if list := e.WorkflowRun.PullRequests; len(list) == 1 {
			return text(list[0].Number), true
		}
		return "", true
	}
	return "", byName
}

func text(n uint64) string { return digits(strconv.FormatUint(n, 10)) }
