package bucket

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"pgregory.net/rapid"
)

// vector is an example that AWS has published.
type vector struct {
	method, url, headers, payload, want string
}

// TestPublishedSignatures: the examples of Amazon S3's API reference, "Authenticating Requests: Using the Authorization
// Header".
func TestPublishedSignatures(t *testing.T) {
	t.Parallel()
	k := keys{ID: "AKIAIOSFODNN7EXAMPLE", Secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}
	now := time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC)
	for _, v := range []vector{
		{"GET", "/test.txt", "Range: bytes=0-9", emptyPayload, "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
		{"PUT", "/test%24file.text", "Date: Fri, 24 May 2013 00:00:00 GMT\nx-amz-storage-class: REDUCED_REDUNDANCY", "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
			"98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
		{"GET", "/?lifecycle", "", emptyPayload, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
		{"GET", "/?max-keys=2&prefix=J", "", emptyPayload, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
	} {
		req := requestOf(t, v, "https://examplebucket.s3.amazonaws.com")
		sign(req, k, "us-east-1", v.payload, now)
		if got := req.Header.Get("Authorization"); !strings.HasSuffix(got, "Signature="+v.want) {
			t.Errorf("%s %s: %s, want %s", v.method, v.url, got, v.want)
		}
	}
}

// TestPublishedSuite: cases of AWS's test suite of Signature Version 4.
func TestPublishedSuite(t *testing.T) {
	t.Parallel()
	k := keys{ID: "AKIDEXAMPLE", Secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
	now := time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)
	for _, v := range []vector{
		{"GET", "/", "", emptyPayload, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"GET", "/?Param2=value2&Param1=value1", "", emptyPayload, "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
		{"POST", "/", "", emptyPayload, "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
		{"GET", "/", "My-Header1: value1", emptyPayload, ""},
	} {
		req := requestOf(t, v, "https://example.amazonaws.com")
		signFor(req, k, scope{"us-east-1", "service"}, v.payload, now)
		if got := req.Header.Get("Authorization"); !strings.HasSuffix(got, v.want) {
			t.Errorf("%s %s %s: %s, want %s", v.method, v.url, v.headers, got, v.want)
		}
	}
}

func requestOf(t *testing.T, v vector, base string) *http.Request {
	t.Helper()
	req, err := http.NewRequest(v.method, base+v.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(v.headers, "\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			req.Header.Set(name, value)
		}
	}
	return req
}

// TestSignedAsAmazon: any request of ours has the signature that Amazon's own client makes for it.
func TestSignedAsAmazon(t *testing.T) {
	t.Parallel()
	theirs := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-zA-Z0-9 +$&=~é%_.-]{0,12}`)
		k := keys{ID: "AKID", Secret: "secret", Session: rapid.StringMatching(`[a-z]{0,5}`).Draw(t, "session")}
		q := map[string][]string{}
		for range rapid.IntRange(0, 3).Draw(t, "queries") {
			q[rapid.StringMatching(`[a-zA-Z-]{1,9}`).Draw(t, "name")] = []string{word.Draw(t, "value")}
		}
		u := objectURL("https://s3.example:9000", "/bucket/"+word.Draw(t, "prefix")+"/cas/abc", q)
		req, err := http.NewRequest(rapid.SampledFrom([]string{"GET", "PUT", "HEAD", "POST", "DELETE"}).Draw(t, "method"), u.String(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "range") {
			req.Header.Set("Range", "bytes=10-")
		}
		other := req.Clone(t.Context())
		other.Header.Set("X-Amz-Content-Sha256", emptyPayload)
		now := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "time"), 0)
		sign(req, k, "eu-central-1", emptyPayload, now)
		secret := aws.Credentials{AccessKeyID: k.ID, SecretAccessKey: k.Secret, SessionToken: k.Session}
		if err := theirs.SignHTTP(t.Context(), secret, other, emptyPayload, "s3", "eu-central-1", now); err != nil {
			t.Fatal(err)
		}
		want := strings.ReplaceAll(other.Header.Get("Authorization"), ", ", ",")
		if got := req.Header.Get("Authorization"); got != want {
			t.Errorf("%s %s: %s, want %s", req.Method, u, got, want)
		}
	})
}
