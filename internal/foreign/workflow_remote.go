package foreign

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/internal/config"
)

// remoteLines are the lines of a workflow that are about the remote cache: jobs of trunk write results, those of pull
// requests only read. All are "" without a remote cache.
type remoteLines struct {
	used        bool
	permissions string // of the job's token, GitHub
	steps       string // before bento: of the job of GitHub, keys of the job of GitLab
	env         string
	trunk       string // variables of the jobs of trunk, GitLab
	script      string // commands before bento, GitLab
	flag        string
}

// quoted returns text as a string of YAML that a service takes as it is: escape replaces what begins an expression there.
func quoted(text string, escape *strings.Replacer) string {
	return strconv.QuoteToASCII(escape.Replace(text)) // YAML has all of Go's escapes
}

// keysOf says by what jobs identify themselves to a server: a token of the service for Amazon's S3, the keys of another
// bucket, a token, or nothing for a directory.
func keysOf(r config.Remote) (oidc bool, variables []string) {
	scheme, _, _ := strings.Cut(r.URL, "://")
	switch {
	case scheme == "s3" && r.Endpoint == "":
		return true, nil
	case scheme == "s3":
		return false, []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
	case scheme == "file":
		return false, nil
	}
	return false, []string{r.TokenEnv}
}

// githubRemote returns the lines of a workflow of GitHub Actions.
func githubRemote(r config.Remote) remoteLines {
	if r.URL == "" {
		return remoteLines{}
	}
	c := remoteLines{used: true, flag: ` --cache "remote:$REMOTE"`}
	c.env = `          # Pushes write results to the remote cache, pull requests and merge queues only read them. A pull request can change this file:
          # keep the secrets of writers in an environment of GitHub that only this branch may use.
          BENTO_REMOTE: ` + quoted(r.URL, strings.NewReplacer("${{", "${{ '${{' }}")) + `
          REMOTE: ${{ github.event_name == 'push' && 'rw' || 'r' }}
`
	if r.Trust == config.TrustSigned {
		c.env += "          BENTO_REMOTE_SIGN_KEY: ${{ github.event_name == 'push' && secrets.BENTO_REMOTE_SIGN_KEY || '' }} # bento cache keygen ci\n"
	}
	oidc, variables := keysOf(r)
	for _, name := range variables {
		c.env += fmt.Sprintf("          %s: ${{ github.event_name == 'push' && secrets.%[1]s || secrets.%[1]s_READ }}\n", name)
	}
	if oidc {
		c.permissions = "  id-token: write # for the role that may use the bucket\n"
		c.steps = `      - uses: aws-actions/configure-aws-credentials@v4
        continue-on-error: true # a pull request from a fork gets no role
        with:
          role-to-assume: ${{ github.event_name == 'push' && vars.BENTO_CACHE_ROLE || vars.BENTO_CACHE_ROLE_READ }}
          aws-region: ` + strconv.Quote(cmp.Or(r.Region, "us-east-1")) + `
`
	}
	return c
}

// gitlabRemote returns the lines of a pipeline of GitLab, which has the secrets as variables of the project.
func gitlabRemote(r config.Remote) remoteLines {
	if r.URL == "" {
		return remoteLines{}
	}
	c := remoteLines{used: true, flag: ` --cache "remote:$REMOTE"`, trunk: "      variables:\n        REMOTE: rw\n"}
	oidc, variables := keysOf(r)
	secrets := variables
	if r.Trust == config.TrustSigned {
		secrets = append([]string{"BENTO_REMOTE_SIGN_KEY (bento cache keygen ci)"}, variables...)
	}
	c.env = "    # The default branch writes results to the remote cache, merge requests only read them.\n"
	if len(secrets) > 0 {
		c.env += "    # Make these variables of the project, protected, so that merge requests do not get them: " + strings.Join(secrets, ", ") + ".\n"
	}
	c.env += "    BENTO_REMOTE: " + quoted(r.URL, strings.NewReplacer("$", "$$")) + "\n    REMOTE: r\n"
	for _, name := range variables { // a variable of the project goes before one of the job
		c.env += fmt.Sprintf("    %s: $%[1]s_READ\n", name)
	}
	if oidc {
		c.steps = "  id_tokens:\n    AWS_TOKEN:\n      aud: sts.amazonaws.com\n"
		c.env += "    AWS_ROLE_ARN: $BENTO_CACHE_ROLE_READ # a role that may read the bucket\n" +
			"    AWS_WEB_IDENTITY_TOKEN_FILE: /tmp/bento-aws-token\n"
		c.trunk += "        AWS_ROLE_ARN: $BENTO_CACHE_ROLE # one that may write, for this branch only\n"
		c.script = "    - printf %s \"$AWS_TOKEN\" >\"$AWS_WEB_IDENTITY_TOKEN_FILE\"\n"
	}
	return c
}
