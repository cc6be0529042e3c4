package place

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseEndpoint(t *testing.T) {
	for text, want := range map[string]Endpoint{
		"grpc://localhost:8980":                  {Kind: REAPI, Host: "localhost:8980"},
		"grpc://127.0.0.1":                       {Kind: REAPI, Host: "127.0.0.1:80"},
		"grpcs://Cache.Example.COM./main/x/":     {Kind: REAPI, TLS: true, Host: "cache.example.com:443", Path: "main/x"},
		"http://[::1]:9090/base":                 {Kind: HTTP, Host: "[::1]:9090", Path: "base"},
		"https://cache.example.com":              {Kind: HTTP, TLS: true, Host: "cache.example.com:443"},
		"https://[2001:db8::1]:8443":             {Kind: HTTP, TLS: true, Host: "[2001:db8::1]:8443"},
		"turborepo+https://cache.example?team=a": {Kind: Turborepo, TLS: true, Host: "cache.example:443", Team: "a"},
		"turborepo+http://localhost:3000":        {Kind: Turborepo, Host: "localhost:3000"},
		"s3://a-bucket.of.ours/a/prefix":         {Kind: S3, TLS: true, Bucket: "a-bucket.of.ours", Path: "a/prefix"},
		"file:///mnt/share/a%20b":                {Kind: Directory, TLS: true, Path: "/mnt/share/a b"},
	} {
		got, err := ParseEndpoint(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("%s, -want +got:\n%s", text, diff)
		}
		again, err := ParseEndpoint(got.String())
		if diff := cmp.Diff(got, again); err != nil || diff != "" {
			t.Errorf("%s: String is %s: %v\n%s", text, got, err, diff)
		}
	}
}

func TestParseEndpointRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "has no scheme",
		"cache.example.com":              "has no scheme",
		"ftp://cache.example.com":        "unknown scheme",
		"grpcs://":                       "has no host",
		"https://user:hunter2@cache":     "contains credentials",
		"https://hunter2@cache":          "contains credentials",
		"http://cache.example.com":       "no encryption",
		"grpc://10.0.0.1:8980":           "no encryption",
		"grpc://localhost.evil.example":  "no encryption",
		"http://127.0.0.1.evil.example":  "no encryption",
		"turborepo+http://cache.example": "no encryption",
		"http://0.0.0.0:80":              "no encryption",
		"https://cache/x?token=hunter2":  "unknown parameter",
		"https://cache/#hunter2":         "is not valid",
		"https://cache:99999999999/\x7f": "is not valid",
		"s3://":                          "no name of a bucket",
		"s3://a/b":                       "no name of a bucket",
		"s3://bucket/x?endpoint=evil":    "has parameters",
		"file://host/dir":                "has the host",
		"file:///":                       "no absolute path",
		"file://":                        "no absolute path",
		"file:relative":                  "is not valid",
	} {
		e, err := ParseEndpoint(text)
		var told *Error
		if !errors.As(err, &told) || !strings.Contains(err.Error(), want) || told.Hint == "" {
			t.Errorf("%q: %v, %v, want an error with %q and a hint", text, e, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: the error repeats a secret: %v", text, err)
		}
	}
	if _, err := ParseEndpoint("x://y"); !strings.Contains(err.(*Error).Hint, "turborepo+https://") {
		t.Errorf("the hint lists no schemes: %v", err)
	}
}

// A server that only the repository names gets no credentials.
func TestKnown(t *testing.T) {
	parse := func(text string) *Endpoint {
		text, service, _ := strings.Cut(text, " ")
		e, err := ParseEndpoint(text)
		if err == nil {
			err = e.SetService(service)
		}
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for _, tt := range []struct {
		repository, own string
		want            bool
	}{
		{"grpcs://cache.example/a", "grpcs://cache.example:443/b", true},
		{"https://CACHE.example", "grpcs://cache.example", true},
		{"https://cache.example", "https://cache.example.evil", false},
		{"https://cache.example:8443", "https://cache.example", false},
		{"https://evil.example", "https://cache.example", false},
		{"http://localhost:443", "https://localhost:443", false},
		{"s3://bucket/x", "s3://bucket", true},
		{"s3://other", "s3://bucket", false},
		{"s3://bucket https://evil.example", "s3://bucket", false},
		{"s3://bucket https://minio.example:9000", "s3://bucket https://minio.example:9000/", true},
		{"file:///mnt/share", "file:///mnt/share/", true},
		{"file:///home/me/.ssh", "file:///mnt/share", false},
	} {
		if got := parse(tt.repository).Known(nil, parse(tt.own)); got != tt.want {
			t.Errorf("%s, own %s: %v, want %v", tt.repository, tt.own, got, tt.want)
		}
	}
	if parse("https://cache.example").Known() {
		t.Error("known although the user has named no server")
	}
	for _, service := range []string{"http://minio.example", "ftp://x", "https://a:b@x", "https://x?y", "minio"} {
		if err := parse("s3://bucket").SetService(service); err == nil {
			t.Errorf("service %s accepted", service)
		}
	}
}

func FuzzParseEndpoint(f *testing.F) {
	for _, text := range []string{"grpcs://a/b", "s3://bucket/x", "file:///x", "turborepo+https://a?team=b", "http://[::1%25eth0]:1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseEndpoint(text)
		if err != nil {
			return
		}
		again, err := ParseEndpoint(e.String())
		if err != nil || *again != *e {
			t.Errorf("%q is %+v, and its String %q is %+v, %v", text, e, e.String(), again, err)
		}
	})
}
