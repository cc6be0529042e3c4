package foreign

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/bentobuild/bento/internal/config"
)

// TestRemoteURLInWorkflow: a URL with special characters of YAML, of the shell and of the services' expressions arrives as it is.
func TestRemoteURLInWorkflow(t *testing.T) {
	t.Parallel()
	src := tree(t, map[string]string{".git/HEAD": "ref: refs/heads/main\n"})
	for _, url := range []string{
		"https://cache.example/a", `https://cache.example/a"b\c`, "https://cache.example/a # b: c", "file:///mnt/my share/'x'", "file:///mnt/é\t\x7f😀",
		"file:///$HOME/${X}/$$", "file:///${{ secrets.A }}/${{", "grpcs://[::1]:9092/%7B",
	} {
		src.Remote = config.Remote{URL: url, Trust: config.TrustSigned, TokenEnv: "TOKEN"}
		var github struct {
			Jobs map[string]struct {
				Steps []struct{ Env map[string]string }
			}
		}
		if err := yaml.Unmarshal([]byte(Workflow(src, "github", "").Text), &github); err != nil {
			t.Errorf("%q: %v", url, err)
			continue
		}
		steps := github.Jobs["bento"].Steps
		got := steps[len(steps)-1].Env["BENTO_REMOTE"]
		if expressions := strings.ReplaceAll(got, "${{ '${{' }}", ""); strings.Contains(expressions, "${{") {
			t.Errorf("%q: GitHub evaluates a part of %q", url, got)
		}
		if got = strings.ReplaceAll(got, "${{ '${{' }}", "${{"); got != url {
			t.Errorf("%q on GitHub: %q", url, got)
		}
		var gitlab map[string]struct{ Variables map[string]string }
		if err := yaml.Unmarshal([]byte(Workflow(src, "gitlab", "").Text), &gitlab); err != nil {
			t.Errorf("%q: %v", url, err)
			continue
		}
		got = gitlab["bento"].Variables["BENTO_REMOTE"]
		if strings.Contains(strings.ReplaceAll(got, "$$", ""), "$") {
			t.Errorf("%q: GitLab expands a part of %q", url, got)
		}
		if got = strings.ReplaceAll(got, "$$", "$"); got != url {
			t.Errorf("%q on GitLab: %q", url, got)
		}
	}
}
