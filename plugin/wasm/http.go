package wasm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

const (
	maxBody      = 16 << 20
	maxRedirects = 5
)

// httpGet is az_http_get. It asks allowed hosts by http or https, and connects to public addresses
// only. It returns false for everything but a status of 2xx with a body of at most 16 MiB.
func httpGet(ctx context.Context, k *call, address string) ([]byte, bool) {
	u, err := url.Parse(address)
	if err == nil {
		err = k.t.grant.mayAsk(u)
	}
	if err != nil {
		k.log.add("[WARN] az_http_get: " + err.Error())
		return nil, false
	}
	body, err := k.fetch(ctx, u)
	if err != nil {
		k.log.add("[WARN] az_http_get: " + err.Error())
		return nil, false
	}
	return body, true
}

func (k *call) fetch(ctx context.Context, u *url.URL) ([]byte, error) {
	transport := k.t.transport()
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		r.Header.Del("Referer")
		return k.t.grant.mayAsk(r.URL)
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "bento")
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return nil, fmt.Errorf("GET %s: the status is %d", u, res.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err == nil && len(body) > maxBody {
		err = fmt.Errorf("GET %s: the body has more than %d bytes", u, maxBody)
	}
	return body, err
}

// transport uses no proxy, which would resolve names out of reach of the check. The check is of the
// address that is connected to, so a name that resolves differently the second time does not pass.
func (t *Tool) transport() *http.Transport {
	dialer := &net.Dialer{
		Timeout: 30 * time.Second,
		Control: func(_, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			if !t.mayDial(to) {
				return fmt.Errorf("%s is no public address", to)
			}
			return nil
		},
	}
	return &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10, TLSHandshakeTimeout: 10 * time.Second}
}

// mayAsk returns an error if a request to an address is not allowed.
func (g *grant) mayAsk(u *url.URL) error {
	port := u.Port()
	switch {
	case u.Scheme == "https" && port == "":
		port = "443"
	case u.Scheme == "http" && port == "":
		port = "80"
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("the scheme of %s is neither http nor https", u.Redacted())
	}
	if u.User != nil {
		return errors.New("the address contains a user")
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if !g.hosts[net.JoinHostPort(host, port)] {
		return fmt.Errorf("the host %s is not in allowed_hosts", net.JoinHostPort(host, port))
	}
	return nil
}

// reserved are the networks that are not of the public internet, besides those that netip knows.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("fec0::/10"), netip.MustParsePrefix("::/96"),
}

// isPublic reports whether an address is one of the public internet. Addresses that carry one of
// IPv4 inside are not: their way leads through a gateway that bento does not know.
func isPublic(to netip.AddrPort) bool {
	a := to.Addr().Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() {
		return false
	}
	for _, p := range reserved {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
