package transport

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/bentobuild/bento/cache/remote"
)

// Refusal is an answer of a server without what was wanted. It is a remote.ErrMiss, ErrDenied or ErrFull, by its Cause or
// its status, or else a fault of the server.
type Refusal struct {
	Host   string
	Status int
	Code   string        // of the server's protocol, or ""
	Text   string        // the first line of the answer, printable, or ""
	Wait   time.Duration // the time that the server asked to be left alone for; 0: it did not
	Cause  error         // what Code means, if it does not mean what the status does
}

func (r *Refusal) Error() string {
	text := strings.TrimSpace(fmt.Sprintf("%s answers %d %s", r.Host, r.Status, http.StatusText(r.Status)))
	switch {
	case r.Code != "" && r.Text != "":
		return fmt.Sprintf("%s (%s: %s)", text, r.Code, r.Text)
	case r.Code+r.Text != "":
		return fmt.Sprintf("%s (%s)", text, r.Code+r.Text)
	}
	return text
}

// Unwrap returns Cause, or the error of package remote that the status means, nil for a fault.
func (r *Refusal) Unwrap() error {
	switch {
	case r.Cause != nil:
		return r.Cause
	case r.Status == http.StatusNotFound || r.Status == http.StatusGone:
		return remote.ErrMiss
	case r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden:
		return remote.ErrDenied
	case r.Status == http.StatusRequestEntityTooLarge || r.Status == http.StatusInsufficientStorage:
		return remote.ErrFull
	}
	return nil
}

// RetryAfter returns Wait. A breaker may stay open for so long; no request waits for it.
func (r *Refusal) RetryAfter() time.Duration { return r.Wait }

// Bounds of what is read of a refusal.
const (
	maxText = 200
	maxWait = time.Hour
)

// Expect returns nil if an answer has one of the statuses. Otherwise it closes the body and returns a *Refusal. An
// answer that is compressed, which was not asked for, is an error: its size has no bound.
func Expect(res *http.Response, statuses ...int) error {
	if !slices.Contains(statuses, res.StatusCode) {
		r := Refused(res)
		text, _ := io.ReadAll(io.LimitReader(res.Body, 4<<10))
		if kind := res.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/html") {
			r.Text = Line(string(text))
		}
		res.Body.Close()
		return r
	}
	if e := res.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		res.Body.Close()
		return fmt.Errorf("%s answers with the content encoding %.40q, which was not asked for", hostOf(res), e)
	}
	return nil
}

// Refused returns what an answer says before its body.
func Refused(res *http.Response) *Refusal {
	return &Refusal{Host: hostOf(res), Status: res.StatusCode, Wait: wait(res.Header.Get("Retry-After"), time.Now())}
}

func hostOf(res *http.Response) string {
	if res.Request == nil || res.Request.URL == nil {
		return "the server"
	}
	return res.Request.URL.Host
}

// wait reads a header Retry-After: seconds, or a date.
func wait(text string, now time.Time) time.Duration {
	if n, err := strconv.Atoi(text); err == nil {
		return min(max(0, time.Duration(min(n, int(maxWait/time.Second)))*time.Second), maxWait)
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(0, at.Sub(now)), maxWait)
}

// Line returns the first line of a text from outside, printable and short.
func Line(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(line, ""))
	if runes := []rune(line); len(runes) > maxText {
		line = string(runes[:maxText]) + "…"
	}
	return line
}

// Small reads the body of an answer of at most limit bytes, and closes it.
func Small(res *http.Response, limit int64) ([]byte, error) {
	defer res.Body.Close()
	if res.ContentLength > limit {
		return nil, fmt.Errorf("%s answers with %d bytes, expected at most %d", hostOf(res), res.ContentLength, limit)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", hostOf(res), err)
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("%s answers with more than %d bytes", hostOf(res), limit)
	}
	return data, nil
}

// From returns the body of an answer to a request for size bytes, without the first from bytes. The caller closes it.
// A server that ignores the header Range sends them too; they are read here.
func From(res *http.Response, from, size int64) (io.ReadCloser, error) {
	start := int64(0)
	if res.StatusCode == http.StatusPartialContent {
		var last, total int64
		if n, err := fmt.Sscanf(res.Header.Get("Content-Range"), "bytes %d-%d/%d", &start, &last, &total); n != 3 || err != nil || start != from || last != size-1 || total != size {
			res.Body.Close()
			return nil, fmt.Errorf("%s answers with the range %.80q, expected bytes %d-%d/%d", hostOf(res), res.Header.Get("Content-Range"), from, size-1, size)
		}
	}
	if n := res.ContentLength; n >= 0 && n != size-start {
		res.Body.Close()
		return nil, fmt.Errorf("%s answers with %d bytes, expected %d", hostOf(res), n, size-start)
	}
	if _, err := io.CopyN(io.Discard, res.Body, from-start); err != nil {
		res.Body.Close()
		return nil, fmt.Errorf("%s: %w", hostOf(res), err)
	}
	return res.Body, nil
}
