package bucket

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// keys are the credentials of a request; the zero value is none.
type keys struct {
	ID, Secret, Session string
	Expires             time.Time // zero: never
}

// emptyPayload is the SHA256 of a request without content.
const emptyPayload = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// stamp is the form of times in signatures.
const stamp = "20060102T150405Z"

// unsigned are headers that a proxy may change, or that are no part of a signature.
func unsigned() []string {
	return []string{"Accept-Encoding", "Authorization", "Content-Length", "Expect", "User-Agent"}
}

// sign adds the header Authorization of AWS's Signature Version 4 to a request to S3, and the headers that it needs. payload
// is the SHA256 of the content in hex.
func sign(req *http.Request, k keys, region, payload string, now time.Time) {
	req.Header.Set("X-Amz-Content-Sha256", payload)
	if k.Session != "" {
		req.Header.Set("X-Amz-Security-Token", k.Session)
	}
	signFor(req, k, scope{region, "s3"}, payload, now)
}

// scope is where a signature is valid.
type scope struct{ region, service string }

func signFor(req *http.Request, k keys, s scope, payload string, now time.Time) {
	at := now.UTC().Format(stamp)
	req.Header.Set("X-Amz-Date", at)
	names, canonical := canonicalRequest(req, payload)
	place := strings.Join([]string{at[:8], s.region, s.service, "aws4_request"}, "/")
	sum := sha256.Sum256([]byte(canonical))
	text := strings.Join([]string{"AWS4-HMAC-SHA256", at, place, hex.EncodeToString(sum[:])}, "\n")
	key := []byte("AWS4" + k.Secret)
	for _, part := range []string{at[:8], s.region, s.service, "aws4_request"} {
		key = mac(key, part)
	}
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+k.ID+"/"+place+",SignedHeaders="+names+",Signature="+hex.EncodeToString(mac(key, text)))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// canonicalRequest returns the names of the signed headers, and the request in the form that is signed.
func canonicalRequest(req *http.Request, payload string) (names, canonical string) {
	headers := map[string]string{"host": req.URL.Host}
	for name, values := range req.Header {
		if slices.Contains(unsigned(), name) {
			continue
		}
		var list []string
		for _, v := range values {
			list = append(list, strings.Join(strings.Fields(v), " "))
		}
		headers[strings.ToLower(name)] = strings.Join(list, ",")
	}
	var order []string
	for name := range headers {
		order = append(order, name)
	}
	slices.Sort(order)
	var b strings.Builder
	path := req.URL.EscapedPath()
	if path == "" {
		path = "/"
	}
	b.WriteString(req.Method + "\n" + path + "\n" + canonicalQuery(req.URL.Query()) + "\n")
	for _, name := range order {
		b.WriteString(name + ":" + headers[name] + "\n")
	}
	names = strings.Join(order, ";")
	b.WriteString("\n" + names + "\n" + payload)
	return names, b.String()
}

// canonicalQuery returns a query, sorted and escaped as AWS does, which is also how it is sent.
func canonicalQuery(q url.Values) string {
	var list [][2]string
	for name, values := range q {
		for _, v := range values {
			list = append(list, [2]string{escape(name, false), escape(v, false)})
		}
	}
	slices.SortFunc(list, func(a, b [2]string) int { return cmp.Or(strings.Compare(a[0], b[0]), strings.Compare(a[1], b[1])) })
	var b strings.Builder
	for i, p := range list {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(p[0] + "=" + p[1])
	}
	return b.String()
}

// escape escapes every byte but letters, digits and "-._~", and "/" in a path.
func escape(s string, path bool) string {
	const hexes = "0123456789ABCDEF"
	var b strings.Builder
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~", c) >= 0, c == '/' && path:
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', hexes[c>>4], hexes[c&15]})
		}
	}
	return b.String()
}
