package sep

import (
	"sync"
	"time"
)

// Counters count starts, failures and other incidents of one extension since bento started it.
type Counters struct {
	Starts       int `json:"starts"`
	Exits        int `json:"exits"`
	Restarts     int `json:"restarts"`
	FailedCalls  int `json:"failedCalls"` // requests of either side that ended with an error
	Denied       int `json:"denied"`      // of them, for a permission
	HealthMisses int `json:"healthMisses"`
	Dropped      int `json:"dropped"`  // events that did not fit
	Disabled     int `json:"disabled"` // by a crash loop
}

// counts is Counters that several goroutines change.
type counts struct {
	mu sync.Mutex
	n  Counters
}

func (c *counts) change(by func(*Counters)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	by(&c.n)
}

func (c *counts) now() Counters {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// Decision is one line of the audit: a request of an extension, and bento's decision.
type Decision struct {
	Time       time.Time `json:"time"`
	Extension  string    `json:"extension"`
	Method     string    `json:"method"`
	Permission string    `json:"permission,omitempty"` // "" for a method that needs none
	Decision   string    `json:"decision"`             // "allow" or "deny"
	Reason     string    `json:"reason"`               // "granted", "no_permission_needed", or the reason of the error
}
