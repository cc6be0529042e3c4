package place

import (
	"cmp"
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

// ScopesOf returns the scopes of a run. configured is remote_scope, "" if it is not set. The job of a pull request, of a merge
// queue or of a branch that is not trunk never writes trunk's scope, and reads and writes none but its own beside it, whatever is
// configured: what is configured is in the change itself. env returns a variable of the environment.
func ScopesOf(configured string, env func(string) string) (Scopes, error) {
	if configured != "" {
		if err := checkScope(configured); err != nil {
			return Scopes{}, err
		}
	}
	switch j := jobOf(env); {
	case j.what == "" || j.guessed && configured != "":
		scope := cmp.Or(configured, Trunk)
		if scope == Trunk {
			return Scopes{Read: []string{Trunk}, Write: Trunk}, nil
		}
		return Scopes{Read: []string{scope, Trunk}, Write: scope}, nil
	case j.scope == "":
		return Scopes{Read: []string{Trunk}, Why: "this is the job of " + j.what + " whose number is unknown"}, nil
	case configured == "" || configured == j.scope:
		return Scopes{Read: []string{j.scope, Trunk}, Write: j.scope}, nil
	default:
		return Scopes{Read: []string{j.scope, Trunk}, Why: fmt.Sprintf("remote_scope is %q, and the job of %s writes %q alone", configured, j.what, j.scope)}, nil
	}
}

// job is that of a CI service, as its environment describes it. It is zero for a job of trunk, and outside of CI.
type job struct {
	what    string // what it is for, in words
	scope   string // its own, "" if unknown
	guessed bool   // that a branch is not trunk: the service does not say it
}

func jobOf(env func(string) string) job {
	if number, pull := pullRequest(env); pull {
		j := job{what: "a pull request"}
		if number != "" {
			j.scope = "pr-" + number
		}
		return j
	}
	return branchJob(env)
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
	if env("CI_MERGE_REQUEST_EVENT_TYPE") == "merge_train" {
		return "", false // see branchJob
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
		HeadBranch   string                    `json:"head_branch"`
		PullRequests []struct{ Number uint64 } `json:"pull_requests"`
	} `json:"workflow_run"`
	Repository struct {
		DefaultBranch string `json:"default_branch"`
	} `json:"repository"`
}

// eventOf reads the description of the event.
func eventOf(env func(string) string) (e event, err error) {
	data, err := read("/", env("GITHUB_EVENT_PATH"), maxEvent)
	if err == nil {
		err = json.Unmarshal(data, &e)
	}
	return e, err
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
	e, err := eventOf(env)
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
