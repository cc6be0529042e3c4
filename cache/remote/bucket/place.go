package bucket

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/bentobuild/bento/cache/remote/transport"
)

// location is a prefix in a bucket.
type location struct{ bucket, prefix string }

// parse reads s3://BUCKET[/PREFIX].
func parse(u *url.URL) (location, error) {
	if u == nil || u.Scheme != "s3" {
		return location{}, fmt.Errorf("the address of the bucket: want s3://BUCKET/PREFIX")
	}
	if u.RawQuery != "" || u.Fragment != "" || u.User != nil || u.Port() != "" {
		return location{}, fmt.Errorf("s3://%s: want s3://BUCKET/PREFIX and no more", u.Host)
	}
	name := u.Host
	bad := func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '.' || r == '_')
	}
	if len(name) < 3 || len(name) > 63 || strings.ContainsFunc(name, bad) || strings.Trim(name, ".-") != name || strings.Contains(name, "..") {
		return location{}, fmt.Errorf("%q is no name of a bucket", name)
	}
	prefix := strings.Trim(u.Path, "/")
	for part := range strings.SplitSeq(prefix, "/") {
		if part == "." || part == ".." || part == "" && prefix != "" {
			return location{}, fmt.Errorf("the prefix %q of the bucket has the part %q", prefix, part)
		}
	}
	if len(prefix) > 512 || strings.ContainsFunc(prefix, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return location{}, fmt.Errorf("the prefix of the bucket has a control character, or more than 512 bytes")
	}
	return location{name, prefix}, nil
}

// checkEndpoint returns a given endpoint as a URL. One without a scheme has TLS.
func checkEndpoint(text string) (*url.URL, error) {
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || strings.Contains(u.Path, "..") || u.RawQuery != "" || u.User != nil {
		return nil, fmt.Errorf("the endpoint of the bucket: want https://HOST[:PORT]")
	}
	if u.Scheme == "http" && !transport.Loopback(u.Hostname()) {
		return nil, fmt.Errorf("the endpoint %s of the bucket has no TLS; bento uses plain text only to this machine", u.Host)
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimRight(u.Path, "/")}, nil
}

// of returns the server of a bucket, and the path of the bucket. AWS has a host a bucket, unless the name has a dot, which its
// certificate does not cover; other servers have a path.
func (l location) of(endpoint *url.URL, region string) (base, root string) {
	if endpoint != nil {
		return endpoint.Scheme + "://" + endpoint.Host, endpoint.Path + "/" + l.bucket + "/"
	}
	host := "s3." + region + "." + domain(region)
	if strings.Contains(l.bucket, ".") {
		return "https://" + host, "/" + l.bucket + "/"
	}
	return "https://" + l.bucket + "." + host, "/"
}

// domain returns the domain of AWS that a region is in.
func domain(region string) string {
	if strings.HasPrefix(region, "cn-") {
		return "amazonaws.com.cn"
	}
	return "amazonaws.com"
}

// checkRegion returns an error for what cannot be part of a host.
func checkRegion(region string) error {
	if len(region) > 40 || strings.ContainsFunc(region, func(r rune) bool { return !('a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-') }) {
		return fmt.Errorf("%.40q is no region of the bucket", region)
	}
	return nil
}

// objectURL returns the URL of a request, escaped as it is signed.
func objectURL(base, path string, query url.Values) *url.URL {
	u, err := url.Parse(base)
	if err != nil {
		panic(err) // checked before
	}
	u.Path, u.RawPath = path, escape(path, true)
	u.RawQuery = canonicalQuery(query)
	return u
}
