package report

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// ExtensionReady is the status of an extension that may start.
const ExtensionReady = "ready"

// ExtensionRow is one extension that bento.toml or the user's own configuration names.
type ExtensionRow struct {
	ID         string   `json:"id"`
	Path       string   `json:"path"` // of its directory, absolute
	Contract   string   `json:"contract,omitempty" enum:"ainb-v2,sep-v1"`
	Version    string   `json:"version,omitempty"`
	Declared   string   `json:"declared"` // "bento.toml:3" of its table
	Own        bool     `json:"own"`      // your own configuration names it
	Status     string   `json:"status" enum:"ready,not_approved,changed,disabled,quarantined,failed"`
	Code       string   `json:"code,omitempty"`
	Message    string   `json:"message,omitempty"`
	Hint       string   `json:"hint,omitempty"`
	Eager      bool     `json:"eager"`      // it starts with a run, not with its first command
	Namespaces []string `json:"namespaces"` // of bento x
	Screens    []string `json:"screens,omitempty"`
	Panels     []Panel  `json:"panels,omitempty"`
	// Counters are of an extension of SEP v1.
	Counters *ExtensionCounters `json:"counters,omitempty"`
}

// ExtensionCounters count what happened to an extension of SEP v1 in this workspace, over all invocations.
type ExtensionCounters struct {
	Starts       int `json:"starts"`
	Exits        int `json:"exits"`
	Restarts     int `json:"restarts"`
	FailedCalls  int `json:"failed_calls"` // requests of either side that ended with an error
	Denied       int `json:"denied"`       // of them, for a permission
	HealthMisses int `json:"health_misses"`
	Dropped      int `json:"dropped"`  // events that it did not take in time
	Disabled     int `json:"disabled"` // after too many failures
}

func (c *ExtensionCounters) String() string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%d starts, %d exits, %d restarts, %d failed calls, %d denied, %d missed health checks, %d dropped events, %d times disabled",
		c.Starts, c.Exits, c.Restarts, c.FailedCalls, c.Denied, c.HealthMisses, c.Dropped, c.Disabled)
}

// Panel is a tool panel of an extension of SEP v1.
type Panel struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Slot  string `json:"slot"`
}

// ExtensionList is the document of `bento ext list`.
type ExtensionList struct {
	Schema     string         `json:"schema"`
	Extensions []ExtensionRow `json:"extensions"`
}

// NewExtensionList makes the document of extensions, by id.
func NewExtensionList(list []ExtensionRow) ExtensionList {
	return ExtensionList{Schema: Schema("ext.list"), Extensions: list}
}

// WriteExtensionList prints extensions for people.
func WriteExtensionList(w io.Writer, style Style, doc ExtensionList) {
	if len(doc.Extensions) == 0 {
		fmt.Fprintln(w, "no [extensions] in bento.toml or in your own configuration")
	}
	for _, e := range doc.Extensions {
		writeExtensionRow(w, style, e)
	}
}

func writeExtensionRow(w io.Writer, style Style, e ExtensionRow) {
	paint := style.Green
	if e.Status != ExtensionReady {
		paint = style.Yellow
	}
	fmt.Fprintf(w, "%s %-16s %s\n", paint(fmt.Sprintf("%-12s", e.Status)), Printable(e.ID), Printable(strings.TrimSpace(e.Version+" "+e.Path)))
	for _, name := range e.Namespaces {
		fmt.Fprintf(w, "             %s\n", style.Dim("bento x "+Printable(name)))
	}
	for _, p := range e.Panels {
		fmt.Fprintf(w, "             %s\n", style.Dim(Printable(fmt.Sprintf("panel %s: %s (%s)", p.ID, p.Title, p.Slot))))
	}
	if e.Message != "" {
		fmt.Fprintf(w, "             %s\n", Indent(Printable(e.Message)))
	}
	if e.Hint != "" {
		fmt.Fprintf(w, "             %s\n", Indent(Printable(e.Hint)))
	}
}

// ExtensionInfo is the document of `bento ext info`.
type ExtensionInfo struct {
	Schema string `json:"schema"`
	ExtensionRow
	Digest      string   `json:"digest,omitempty"`
	Approved    string   `json:"approved,omitempty"` // the digest that you have approved
	Permissions []string `json:"permissions"`        // that its manifest requests
	// AskedOnly and GrantedOnly are the limits of requested and granted permissions: lists of paths, hosts,
	// programs, secrets or topics.
	AskedOnly   map[string][]string `json:"asked_only,omitempty"`
	Granted     []string            `json:"granted"`
	GrantedOnly map[string][]string `json:"granted_only,omitempty"`
	Topics      []string            `json:"topics"`
	Output      bool                `json:"output"` // task.output is published to it
	Variables   []string            `json:"variables,omitempty"`
	Warnings    []string            `json:"warnings,omitempty"` // about its manifest and its table
}

// NewExtensionInfo sets the schema of doc and returns it.
func NewExtensionInfo(doc ExtensionInfo) ExtensionInfo {
	doc.Schema = Schema("ext.info")
	return doc
}

// WriteExtensionInfo prints an extension for people.
func WriteExtensionInfo(w io.Writer, style Style, doc ExtensionInfo) {
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "%-13s %s\n", name, Indent(Printable(text)))
		}
	}
	start := "with its first command"
	if doc.Eager {
		start = "with a run"
	}
	line(style.Bold(doc.ID), strings.TrimSpace(doc.Version+" "+doc.Status))
	line("path", doc.Path)
	line("contract", doc.Contract)
	line("declared", doc.Declared)
	line("digest", doc.Digest)
	line("approved", doc.Approved)
	line("starts", start)
	line("asks for", withLists(doc.Permissions, doc.AskedOnly))
	line("granted", withLists(doc.Granted, doc.GrantedOnly))
	line("topics", strings.Join(doc.Topics, ", "))
	line("variables", strings.Join(doc.Variables, ", "))
	line("commands", strings.Join(doc.Namespaces, ", "))
	line("screens", strings.Join(doc.Screens, ", "))
	for _, p := range doc.Panels {
		line("panel", fmt.Sprintf("%s: %s (%s)", p.ID, p.Title, p.Slot))
	}
	line("counters", doc.Counters.String())
	for _, text := range doc.Warnings {
		line("warning", text)
	}
	line("problem", doc.Message)
	line("do next", doc.Hint)
}

// withLists returns permissions with their limits.
func withLists(names []string, only map[string][]string) string {
	var list []string
	for _, name := range names {
		if limits := only[name]; len(limits) > 0 {
			name += " (" + strings.Join(limits, ", ") + ")"
		}
		list = append(list, name)
	}
	return strings.Join(list, ", ")
}

// ExtensionChanged is the document of the commands that decide about an extension.
type ExtensionChanged struct {
	Schema string `json:"schema"`
	ID     string `json:"id"`
	Status string `json:"status"`           // now
	Digest string `json:"digest,omitempty"` // that was approved
	// Granted and GrantedOnly are the permissions of an approved extension, as in ExtensionInfo.
	Granted     []string            `json:"granted,omitempty"`
	GrantedOnly map[string][]string `json:"granted_only,omitempty"`
}

// WriteExtensionChanged prints the document for people.
func WriteExtensionChanged(w io.Writer, _ Style, doc ExtensionChanged) {
	text := doc.ID + ": " + doc.Status
	if doc.Digest != "" {
		text += ", sha256 " + doc.Digest
	}
	fmt.Fprintln(w, Printable(text))
	if len(doc.Granted) > 0 {
		fmt.Fprintln(w, "granted: "+Printable(withLists(doc.Granted, doc.GrantedOnly)))
	}
}

// ExtensionLog is the document of `bento ext logs`.
type ExtensionLog struct {
	Schema string          `json:"schema"`
	ID     string          `json:"id"`
	Lines  []ExtensionLine `json:"lines"`
}

// ExtensionLine is one line that an extension wrote or logged, or that bento logged about it.
type ExtensionLine struct {
	Time  time.Time `json:"time"`
	Level string    `json:"level"` // trace, debug, info, warn or error
	Text  string    `json:"text"`
}

// NewExtensionLog makes the document of a log.
func NewExtensionLog(id string, lines []ExtensionLine) ExtensionLog {
	return ExtensionLog{Schema("ext.logs"), id, lines}
}

// WriteExtensionLog prints a log for people.
func WriteExtensionLog(w io.Writer, _ Style, doc ExtensionLog) {
	for _, l := range doc.Lines {
		fmt.Fprintf(w, "%s %-5s %s\n", l.Time.UTC().Format(time.RFC3339), PrintableLine(l.Level), PrintableLine(l.Text))
	}
}

// ExtensionAudit is the document of `bento ext audit`.
type ExtensionAudit struct {
	Schema  string              `json:"schema"`
	ID      string              `json:"id"`
	Entries []ExtensionDecision `json:"entries"`
}

// ExtensionDecision is a decision about one request of an extension.
type ExtensionDecision struct {
	Time       time.Time `json:"time"`
	Method     string    `json:"method"`
	Permission string    `json:"permission,omitempty"`
	Decision   string    `json:"decision" enum:"allow,deny"`
	Reason     string    `json:"reason,omitempty"`
}

// NewExtensionAudit makes the document of decisions.
func NewExtensionAudit(id string, entries []ExtensionDecision) ExtensionAudit {
	return ExtensionAudit{Schema("ext.audit"), id, entries}
}

// WriteExtensionAudit prints decisions for people.
func WriteExtensionAudit(w io.Writer, _ Style, doc ExtensionAudit) {
	for _, d := range doc.Entries {
		line := fmt.Sprintf("%s %-5s %s %s %s", d.Time.UTC().Format(time.RFC3339), d.Decision, d.Method, d.Permission, d.Reason)
		fmt.Fprintln(w, strings.Join(strings.Fields(PrintableLine(line)), " "))
	}
}

// Called is the document of `bento x`.
type Called struct {
	Schema    string `json:"schema"`
	Extension string `json:"extension"`
	Namespace string `json:"namespace"`
	ExitCode  int    `json:"exit_code"`
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
}

// NewCalled sets the schema of doc and returns it.
func NewCalled(doc Called) Called {
	doc.Schema = Schema("x")
	return doc
}
