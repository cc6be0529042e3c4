package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/run"
)

// CacheKeys is the document of `bento cache keygen`.
type CacheKeys struct {
	Schema  string `json:"schema"`
	Public  string `json:"public"`  // of remote_keys
	Private string `json:"private"` // of $BENTO_REMOTE_SIGN_KEY
}

// NewCacheKeys makes the document.
func NewCacheKeys(public, private string) CacheKeys {
	return CacheKeys{Schema: Schema("cache.keygen"), Public: public, Private: private}
}

// WriteCacheKeys prints it for people.
func WriteCacheKeys(w io.Writer, style Style, doc CacheKeys) {
	fmt.Fprintf(w, "%s\n  [cache]\n  remote_keys = [%q]\n\n", style.Dim("bento.toml, for all who use results:"), doc.Public)
	fmt.Fprintf(w, "%s\n  BENTO_REMOTE_SIGN_KEY=%s\n", style.Dim("a secret of the CI service, for those that make results; it is stored nowhere:"), doc.Private)
}

// CachePushed is the document of `bento cache push`.
type CachePushed struct {
	Schema string `json:"schema"`
	Sent   int    `json:"sent"`
	Bytes  int64  `json:"sent_bytes"`
	Left   int    `json:"left"` // results that still wait
}

// NewCachePushed makes the document.
func NewCachePushed(c run.RemoteCounts) CachePushed {
	return CachePushed{Schema: Schema("cache.push"), Sent: c.Sent, Bytes: c.SentBytes, Left: c.Left}
}

// WriteCachePushed prints it for people.
func WriteCachePushed(w io.Writer, _ Style, doc CachePushed) {
	fmt.Fprintf(w, "%s sent (%s), %d left for later\n", Count(doc.Sent, "result"), ByteSize(doc.Bytes), doc.Left)
}

// CachePulled is the document of `bento cache pull`.
type CachePulled struct {
	Schema  string `json:"schema"`
	Pulled  int    `json:"pulled"` // tasks whose results have arrived
	Bytes   int64  `json:"fetched_bytes"`
	Here    int    `json:"here"`    // tasks whose results were in the local cache
	Missing int    `json:"missing"` // tasks that a run would execute
	Pending int    `json:"pending"` // of them, those whose keys need the outputs of another one
}

// NewCachePulled makes the document.
func NewCachePulled(p run.Pulled) CachePulled {
	return CachePulled{Schema: Schema("cache.pull"), Pulled: p.Hits, Bytes: p.FetchedBytes, Here: p.Here, Missing: p.Missing, Pending: p.Pending}
}

// WriteCachePulled prints it for people.
func WriteCachePulled(w io.Writer, _ Style, doc CachePulled) {
	fmt.Fprintf(w, "%s pulled (%s), %d already here, %d missing", Count(doc.Pulled, "result"), ByteSize(doc.Bytes), doc.Here, doc.Missing)
	if doc.Pending > 0 {
		fmt.Fprintf(w, ", %d of them because of another one", doc.Pending)
	}
	fmt.Fprintln(w)
}

// CacheStatus is the document of `bento cache status`.
type CacheStatus struct {
	Schema      string     `json:"schema"`
	Remote      string     `json:"remote"` // the URL
	Known       bool       `json:"known"`  // the user has named the server, not only the repository
	Reads       bool       `json:"reads"`
	WhyNotRead  string     `json:"why_not_read,omitempty"` // absent if that is not wanted
	Writes      bool       `json:"writes"`
	WhyNotWrite string     `json:"why_not_write,omitempty"`
	Trust       string     `json:"trust" enum:"signed,server"`
	Keys        []CacheKey `json:"keys"`
	Signer      string     `json:"signer,omitempty"` // the name of the key that signs
	Class       string     `json:"class"`
	ReadScopes  []string   `json:"read_scopes"`
	WriteScope  string     `json:"write_scope,omitempty"`
	Waiting     int        `json:"waiting"`             // results that are to be sent
	OffSince    *time.Time `json:"off_since,omitempty"` // when the server was given up, if it was not asked since
}

// CacheKey is a public key.
type CacheKey struct {
	Name     string     `json:"name"`
	Key      string     `json:"key"`
	NotAfter *time.Time `json:"not_after,omitempty"`
	Expired  bool       `json:"expired,omitempty"`
}

// WriteCacheStatus prints it for people.
func WriteCacheStatus(w io.Writer, style Style, doc CacheStatus) {
	fmt.Fprintln(w, PrintableLine(doc.Remote))
	use := func(word string, does bool, why, scopes string) {
		switch {
		case does:
			fmt.Fprintf(w, "  %s: yes, %s\n", word, scopes)
		case why != "":
			fmt.Fprintf(w, "  %s: no, %s\n", word, PrintableLine(why))
		default:
			fmt.Fprintf(w, "  %s: no, by cache.mode\n", word)
		}
	}
	use("read", doc.Reads, doc.WhyNotRead, "scope "+strings.Join(doc.ReadScopes, ", then "))
	use("write", doc.Writes, doc.WhyNotWrite, "scope "+doc.WriteScope)
	trust := "any result of the server"
	if doc.Trust == "signed" {
		names := make([]string, len(doc.Keys))
		for i, k := range doc.Keys {
			if names[i] = k.Name; k.Expired {
				names[i] += " (expired)"
			}
		}
		trust = "results signed by " + strings.Join(names, ", ")
		if len(names) == 0 {
			trust = "none: there is no key"
		}
	}
	fmt.Fprintf(w, "  trust: %s\n  class: %s\n", PrintableLine(trust), PrintableLine(doc.Class))
	if !doc.Known {
		fmt.Fprintln(w, "  credentials: none are sent, because only the repository names the server")
	}
	if doc.Waiting > 0 {
		fmt.Fprintf(w, "  %s to be sent: bento cache push\n", Count(doc.Waiting, "result"))
	}
	if doc.OffSince != nil {
		fmt.Fprintf(w, "  %s since %s, when the server did not answer\n", style.Yellow("not used"), doc.OffSince.Local().Format(time.DateTime))
	}
}
