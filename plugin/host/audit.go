package host

import "time"

// Audit is the record of one call of a tool. It has bento's own observations, and no claims of the tool.
// Durations of phases that were not reached are 0.
type Audit struct {
	Contract string `json:"contract"` // "rterm.plugin.v1"
	ID       string `json:"id"`       // of the tool, as configured
	Function string `json:"function,omitempty"`
	Request  string `json:"request,omitempty"` // id of the request
	Pid      int    `json:"pid,omitempty"`     // 0 without a process
	// Outcome is "ok", "error" for an error of the tool's own, "canceled", or the
	// adapters.Code of a failure.
	Outcome string `json:"outcome"`
	Error   string `json:"error,omitempty"` // the code of the tool's own error

	Launch    time.Duration `json:"launch"`    // of the process, or of an instance
	Handshake time.Duration `json:"handshake"` // 0 for a contract without one
	Answer    time.Duration `json:"answer"`    // from the request to the answer
	Exit      time.Duration `json:"exit"`      // from the answer to the end
	Took      time.Duration `json:"took"`      // the whole call, in nanoseconds

	Sent     int64 `json:"sent"`     // bytes
	Received int64 `json:"received"` // bytes, without Trailing
	Trailing int64 `json:"trailing"` // bytes after the answer, which were ignored
}

// Decision is the record of one request of an extension that needs a permission. It has no content
// of files, messages or secrets.
type Decision struct {
	Time       time.Time `json:"time"`
	Extension  string    `json:"extension"`
	Method     string    `json:"method"`
	Permission string    `json:"permission,omitempty"` // "" for a method that needs none
	Decision   string    `json:"decision"`             // "allow" or "deny"
	Reason     string    `json:"reason,omitempty"`
}
