package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/transport"
)

// files writes files into a directory, by pairs of names and contents.
func files(t *testing.T, pairs ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(pairs); i += 2 {
		name := filepath.Join(dir, pairs[i])
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(pairs[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// first returns the credentials of the first request.
func first(t *testing.T, lookup func(string) string, metadata bool) (keys, error) {
	t.Helper()
	o := Options{Options: transport.Options{Trusted: true}, Lookup: lookup, Metadata: metadata}
	p, err := environment(lookup).profile()
	if err != nil {
		return keys{}, err
	}
	get, err := o.chain(p)
	if err != nil {
		return keys{}, err
	}
	return newRing(get, time.Now).keys(t.Context())
}

const someProfiles = `# a comment
[default]
aws_access_key_id = D
AWS_Secret_Access_Key=ds
s3 =
    addressing_style = path
region = eu-west-3 # Paris

[ci]
aws_access_key_id=C
aws_secret_access_key=a=b
aws_session_token=T
`

const someConfig = `[profile ci]
region = us-west-2
output = json
[profile sso]
sso_session = x
[profile chained]
role_arn = arn
source_profile = ci
`

// TestProfiles: credentials come from where AWS's own clients take them.
func TestProfiles(t *testing.T) {
	t.Parallel()
	home := files(t, ".aws/credentials", someProfiles, ".aws/config", someConfig)
	other := files(t, "mine", "[default]\naws_access_key_id = M\naws_secret_access_key = ms\n")
	for name, c := range map[string]struct {
		env  []string
		want keys
		text string // of the error
	}{
		"nothing":         {[]string{"HOME", other}, keys{}, ""},
		"no home":         {[]string{"HOME", ""}, keys{}, ""},
		"default":         {[]string{"HOME", home}, keys{ID: "D", Secret: "ds"}, ""},
		"profile":         {[]string{"HOME", home, "AWS_PROFILE", "ci"}, keys{ID: "C", Secret: "a=b", Session: "T"}, ""},
		"environment":     {[]string{"HOME", home, "AWS_PROFILE", "ci", "AWS_ACCESS_KEY_ID", "E", "AWS_SECRET_ACCESS_KEY", "es"}, keys{ID: "E", Secret: "es"}, ""},
		"another file":    {[]string{"HOME", home, "AWS_SHARED_CREDENTIALS_FILE", filepath.Join(other, "mine")}, keys{ID: "M", Secret: "ms"}, ""},
		"unknown profile": {[]string{"HOME", home, "AWS_PROFILE", "none"}, keys{}, `no profile "none"`},
		"sso":             {[]string{"HOME", home, "AWS_PROFILE", "sso"}, keys{}, "export-credentials"},
		"chained":         {[]string{"HOME", home, "AWS_PROFILE", "chained"}, keys{}, "export-credentials"},
		"a directory":     {[]string{"HOME", home, "AWS_CONFIG_FILE", home}, keys{}, "no regular file"},
		"no ASCII":        {[]string{"AWS_ACCESS_KEY_ID", "E\n", "AWS_SECRET_ACCESS_KEY", "es"}, keys{}, "control character"},
	} {
		k, err := first(t, variables(t, c.env...), false)
		if d := cmp.Diff(c.want, k); d != "" || (err == nil) != (c.text == "") || err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, %s", name, err, d)
		}
	}
	o := Options{Lookup: variables(t, "HOME", home, "AWS_PROFILE", "ci")}
	w, err := o.way(location{bucket: "cache"}, time.Now)
	if err != nil || w.region != "us-west-2" || w.ring.get != nil {
		t.Errorf("the region of the profile: %+v, %v", w, err)
	}
}

// TestWebIdentity: a token in a file becomes credentials of a role.
func TestWebIdentity(t *testing.T) {
	t.Parallel()
	answer := atomic.Pointer[string]{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("Action") != "AssumeRoleWithWebIdentity" || r.FormValue("WebIdentityToken") != "jwt" || r.FormValue("RoleArn") != "arn:x" || r.FormValue("RoleSessionName") == "" {
			t.Errorf("%v", r.Form)
		}
		text := *answer.Load()
		if strings.Contains(text, "<Error>") {
			w.WriteHeader(http.StatusBadRequest)
		}
		io.WriteString(w, text)
	}))
	defer s.Close()
	dir := files(t, "token", "jwt\n")
	lookup := variables(t, "AWS_ROLE_ARN", "arn:x", "AWS_WEB_IDENTITY_TOKEN_FILE", filepath.Join(dir, "token"), "AWS_ENDPOINT_URL_STS", s.URL)
	const good = `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>
<AccessKeyId>W</AccessKeyId><SecretAccessKey>ws</SecretAccessKey><SessionToken>wt</SessionToken><Expiration>2999-01-02T03:04:05Z</Expiration>
</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`
	for text, want := range map[string]string{
		good: "",
		`<ErrorResponse><Error><Code>ExpiredTokenException</Code><Message>old</Message></Error></ErrorResponse>`: "ExpiredTokenException: old",
		strings.Replace(good, ">ws<", "><", 1): "no credentials",
		strings.Replace(good, "2999", "x", 1):  "when the credentials expire",
		"text":                                 "no XML",
		strings.Repeat("<a>", 100_000):         "65536 bytes",
	} {
		answer.Store(&text)
		k, err := first(t, lookup, false)
		if want == "" && (err != nil || k.ID != "W" || k.Secret != "ws" || k.Session != "wt" || k.Expires.Year() != 2999) {
			t.Errorf("%+v, %v", k, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}

const agentAnswer = `{"AccessKeyId": "A", "SecretAccessKey": "as", "Token": "at", "Expiration": "2999-01-02T03:04:05Z"}`

// TestAgents: containers and machines of Amazon's have credentials; a machine is asked only if that is wanted.
func TestAgents(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch {
		case r.URL.Path == "/container" && r.Header.Get("Authorization") == "tok":
			io.WriteString(w, agentAnswer)
		case r.Method == http.MethodPut && r.URL.Path == "/latest/api/token" && r.Header.Get("X-aws-ec2-metadata-token-ttl-seconds") != "":
			io.WriteString(w, "imds")
		case r.Header.Get("X-aws-ec2-metadata-token") != "imds":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/latest/meta-data/iam/security-credentials/":
			io.WriteString(w, "my-role\n")
		case r.URL.Path == "/latest/meta-data/iam/security-credentials/my-role":
			io.WriteString(w, agentAnswer)
		}
	}))
	defer s.Close()
	want := keys{ID: "A", Secret: "as", Session: "at", Expires: time.Date(2999, 1, 2, 3, 4, 5, 0, time.UTC)}
	dir := files(t, "token", "tok\n")
	full := []string{"AWS_CONTAINER_CREDENTIALS_FULL_URI", s.URL + "/container"}
	for name, more := range map[string][]string{"token": {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "tok"}, "file": {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", filepath.Join(dir, "token")}} {
		if k, err := first(t, variables(t, append(more, full...)...), false); err != nil || k != want {
			t.Errorf("container, %s: %+v, %v", name, k, err)
		}
	}
	if _, err := first(t, variables(t, "AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://agent.example/"), false); err == nil {
		t.Error("an agent elsewhere was asked in plain text")
	}
	machine := variables(t, "AWS_EC2_METADATA_SERVICE_ENDPOINT", s.URL)
	if k, err := first(t, machine, true); err != nil || k != want {
		t.Errorf("machine: %+v, %v", k, err)
	}
	asked.Store(0)
	disabled := variables(t, "AWS_EC2_METADATA_SERVICE_ENDPOINT", s.URL, "AWS_EC2_METADATA_DISABLED", "TRUE")
	if k, err := first(t, machine, false); err != nil || k != (keys{}) || asked.Load() != 0 {
		t.Errorf("%+v, %v after %d questions", k, err, asked.Load())
	}
	if k, err := first(t, disabled, true); err != nil || k != (keys{}) || asked.Load() != 0 {
		t.Errorf("disabled: %+v, %v after %d questions", k, err, asked.Load())
	}
}

// TestRing: credentials are replaced before they expire, and stay in use while no new ones can be got.
func TestRing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls, broken := 0, errors.New("broken")
		var fails error
		r := newRing(func(context.Context) (keys, error) {
			if calls++; fails != nil {
				return keys{}, fails
			}
			return keys{ID: fmt.Sprint(calls), Expires: time.Now().Add(time.Hour)}, nil
		}, time.Now)
		get := func(id string, n int) {
			t.Helper()
			if k, err := r.keys(t.Context()); k.ID != id || calls != n || (err == nil) == (id == "") {
				t.Errorf("keys %q after %d calls, %v, want %q after %d", k.ID, calls, err, id, n)
			}
		}
		get("1", 1)
		time.Sleep(54 * time.Minute)
		get("1", 1)
		time.Sleep(2 * time.Minute)
		get("2", 2)
		fails = broken
		time.Sleep(56 * time.Minute)
		get("2", 3)
		time.Sleep(5 * time.Minute)
		get("", 4)
		fails = nil
		get("5", 5)
		k, _ := r.keys(t.Context())
		if !r.forget(k) {
			t.Error("credentials that a server refuses are kept")
		}
		get("6", 6)
		if !r.forget(k) {
			t.Error("newer credentials are not used")
		}
		get("6", 6)
		if r.forget(keys{ID: "x"}) {
			t.Error("credentials that never expire are asked for again")
		}
	})
}

func FuzzProfiles(f *testing.F) {
	f.Add(someProfiles)
	f.Add(someConfig)
	f.Add("[a\nb\n=\n]\n[]\n=x")
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range parseProfiles(text) {
			for key, value := range p {
				if key != strings.ToLower(key) || strings.ContainsAny(key+value, "\n") {
					t.Errorf("%q = %q", key, value)
				}
			}
		}
	})
}

func FuzzAnswers(f *testing.F) {
	f.Add([]byte(agentAnswer))
	f.Add([]byte(`<ErrorResponse><Error><Code>X</Code></Error></ErrorResponse>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, parse := range []func([]byte) (keys, error){parseRole, parseAgent} {
			if k, err := parse(data); err == nil && (k.ID == "" || k.Secret == "") {
				t.Errorf("%q: %+v", data, k)
			}
		}
		if code, _ := parseError(data); len(code) > 64 {
			t.Errorf("%q", code)
		}
	})
}

// TestSlowKeys: the time that credentials take is no time of the bucket, and has a bound of its own.
func TestSlowKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for took, want := range map[time.Duration]string{8 * time.Second: "", time.Hour: "timed out after 10s"} {
			r := newRing(func(ctx context.Context) (keys, error) {
				select {
				case <-time.After(took):
					return keys{ID: "id"}, nil
				case <-ctx.Done():
					return keys{}, ctx.Err()
				}
			}, time.Now)
			ctx, w := remote.Watch(t.Context(), remote.Limits{Answer: time.Second})
			begin := time.Now()
			k, err := r.keys(ctx)
			if want == "" && (err != nil || k.ID != "id") || want != "" && (err == nil || !strings.Contains(err.Error(), want) || time.Since(begin) != keysTime) {
				t.Errorf("%v: %v, %v after %v", took, k, err, time.Since(begin))
			}
			w.Stop()
		}
	})
}
