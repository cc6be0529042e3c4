package sep

import (
	"encoding/json"
	"fmt"

	"github.com/bentobuild/bento/plugin/wire"
)

// The reasons of errors, by which an extension distinguishes them. They and their codes are stable.
const (
	parseError       = "parse_error"
	invalidRequest   = "invalid_request"
	methodNotFound   = "method_not_found"
	invalidParams    = "invalid_params"
	internal         = "internal"
	permissionDenied = "permission_denied"
	notInitialized   = "not_initialized"
	initialized      = "already_initialized"
	unsupported      = "version_unsupported"
	rateLimited      = "rate_limited"
	tooMany          = "too_many_concurrent"
	tooLarge         = "payload_too_large"
	timedOut         = "timeout"
	shuttingDown     = "shutting_down"
	unavailable      = "unavailable"
	notAuthenticated = "not_authenticated"
)

// codeOf returns the code of a reason.
func codeOf(reason string) int {
	switch reason {
	case parseError:
		return -32700
	case invalidRequest:
		return -32600
	case methodNotFound:
		return -32601
	case invalidParams:
		return -32602
	case permissionDenied:
		return -32001
	case notInitialized:
		return -32010
	case initialized:
		return -32011
	case unsupported:
		return -32012
	case rateLimited:
		return -32013
	case tooMany:
		return -32014
	case tooLarge:
		return -32015
	case timedOut:
		return -32016
	case shuttingDown:
		return -32017
	case unavailable:
		return -32018
	case notAuthenticated:
		return -32019
	}
	return -32603
}

// detail is the data of an error.
type detail struct {
	Reason       string   `json:"reason"`
	Path         *string  `json:"path,omitempty"` // of the field, "" for params itself
	Permission   string   `json:"permission,omitempty"`
	Method       string   `json:"method,omitempty"`
	Cause        string   `json:"cause,omitempty"`
	Supported    []string `json:"supported,omitempty"`
	RetryAfterMs int64    `json:"retryAfterMs,omitempty"`
}

// with returns the error with this detail.
func (d detail) with(format string, args ...any) *wire.RPCError {
	data, err := json.Marshal(d)
	if err != nil { // texts and numbers alone
		panic(err)
	}
	return &wire.RPCError{Code: codeOf(d.Reason), Message: fmt.Sprintf(format, args...), Data: data}
}

// refuse returns an error that has a reason and nothing else.
func refuse(reason, format string, args ...any) *wire.RPCError {
	return detail{Reason: reason}.with(format, args...)
}

// wrong returns the error of a field of the params.
func wrong(path, format string, args ...any) *wire.RPCError {
	return detail{Reason: invalidParams, Path: &path}.with(format, args...)
}

// reasonOf returns data.reason of an error of the other side, "" without one.
func reasonOf(e *wire.RPCError) string {
	var d struct {
		Reason string `json:"reason"`
	}
	_ = json.Unmarshal(e.Data, &d) // data is free
	return d.Reason
}
