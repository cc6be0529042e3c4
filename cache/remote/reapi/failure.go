package reapi

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/bentobuild/bento/cache/remote"
)

// Code is a status code of gRPC.
type Code int

// The codes that decide something here.
const (
	OK                 Code = 0
	Canceled           Code = 1
	Unknown            Code = 2
	InvalidArgument    Code = 3
	DeadlineExceeded   Code = 4
	NotFound           Code = 5
	PermissionDenied   Code = 7
	ResourceExhausted  Code = 8
	FailedPrecondition Code = 9
	OutOfRange         Code = 11
	Unimplemented      Code = 12
	Internal           Code = 13
	Unavailable        Code = 14
	Unauthenticated    Code = 16
)

func (c Code) String() string {
	names := []string{"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED",
		"FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"}
	if c >= 0 && int(c) < len(names) {
		return names[c]
	}
	return fmt.Sprintf("code %d", int(c))
}

// Failure is an answer of a server with a status other than OK.
type Failure struct {
	Server string // grpcs://HOST
	Method string // without its service
	Code   Code
	Text   string // of the server, printable

	means error // of package remote, nil for a fault
}

func (f *Failure) Error() string {
	text := fmt.Sprintf("%s: %s: %v", f.Server, f.Method, f.Code)
	if f.Text != "" {
		text += fmt.Sprintf(" (%s)", f.Text)
	}
	if hint := f.hint(); hint != "" {
		text += "; " + hint
	}
	return text
}

// Unwrap returns the error of package remote that the failure means, nil for a fault of the server.
func (f *Failure) Unwrap() error { return f.means }

// hint returns what to do about a failure, "" if there is nothing that only this code suggests.
func (f *Failure) hint() string {
	switch f.Code {
	case Unauthenticated:
		return "check the token, the client certificate or the credential helper"
	case PermissionDenied:
		return "ask for the right to do this, or use the cache without it"
	case Unimplemented:
		return "check that this is the address of a server of the Remote Execution API v2"
	case ResourceExhausted:
		return "the server has no room or takes no more requests now"
	}
	return ""
}

// failure returns the error of a status of a method. Only some methods mean a blob or a result by NOT_FOUND, and
// storage by RESOURCE_EXHAUSTED.
func (c *Client) failure(method string, s status) *Failure {
	_, name, _ := strings.Cut(method, "/")
	f := &Failure{Server: c.name, Method: name, Code: s.code, Text: printable(s.text)}
	switch {
	case s.code == Unauthenticated || s.code == PermissionDenied:
		f.means = remote.ErrDenied
	case s.code == NotFound && slices.Contains([]string{getResult, readBlob}, method):
		f.means = remote.ErrMiss
	case s.code == ResourceExhausted && slices.Contains([]string{putResult, writeBlob, batchUpdate}, method):
		f.means = remote.ErrFull
	}
	return f
}

const maxText = 200

// printable returns a text of a server as one short line without control characters.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text[:min(len(text), 4*maxText)], ""))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxText {
		text = string(runes[:maxText]) + "…"
	}
	return text
}

// message decodes the header grpc-message. One with a malformed escape is taken as it is, as gRPC demands.
func message(header string) string {
	if text, err := url.PathUnescape(header); err == nil {
		return text
	}
	return header
}
