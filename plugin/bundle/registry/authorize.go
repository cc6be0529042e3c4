package registry

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/bentobuild/bento/internal/pattern"
)

// parameter is one parameter of a challenge.
var parameter = pattern.New(`([a-zA-Z]+)="([^"]*)"`)

const maxToken = 64 << 10

// authorize returns the header Authorization that a challenge wants.
func (c *client) authorize(ctx context.Context, r reference, challenge, scope string) (string, error) {
	name, password := "", ""
	if c.Login != nil {
		name, password = c.Login(r.Host)
	}
	basic := ""
	if name != "" {
		basic = "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password))
	}
	kind, _, _ := strings.Cut(challenge, " ")
	switch strings.ToLower(kind) {
	case "basic":
		if basic != "" {
			return basic, nil
		}
	case "bearer":
		return c.token(ctx, r, bearer(challenge, r, scope), basic)
	}
	return "", fmt.Errorf("the registry requires a login: docker login %s writes one that bento reads", r.Host)
}

// bearer returns the address that issues a token for a challenge.
func bearer(challenge string, r reference, scope string) *url.URL {
	given := make(map[string]string)
	for _, m := range parameter.FindAllStringSubmatch(challenge, 20) {
		given[strings.ToLower(m[1])] = m[2]
	}
	u, err := url.Parse(given["realm"])
	if err != nil {
		return &url.URL{}
	}
	query := u.Query()
	if given["service"] != "" {
		query.Set("service", given["service"])
	}
	query.Set("scope", "repository:"+r.Repo+":"+scope)
	u.RawQuery = query.Encode()
	return u
}

// token fetches a token. A server that is not this machine must have https.
func (c *client) token(ctx context.Context, r reference, from *url.URL, basic string) (string, error) {
	if from.Scheme != "https" && (from.Scheme != "http" || !isLoopback(from.Host)) {
		return "", fmt.Errorf("the registry %s sends to %.200q for a token, expected an address with https", r.Host, from.Redacted())
	}
	res, err := c.send(ctx, request{method: http.MethodGet, address: from.String()}, basic)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("no token: %w", answered(res))
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxToken+1))
	var doc struct {
		Token       string `json:"token"`
		AccessToken string `json:"access_token"`
	}
	if err == nil {
		err = json.Unmarshal(data, &doc)
	}
	if doc.Token == "" {
		doc.Token = doc.AccessToken
	}
	if err != nil || doc.Token == "" || len(data) > maxToken {
		return "", fmt.Errorf("%s answered without a token", from.Host)
	}
	return "Bearer " + doc.Token, nil
}
