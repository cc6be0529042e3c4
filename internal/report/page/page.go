// Package page makes the HTML page that shows the graph of a workspace, its tasks and its runs. The page loads no
// other files: it contains its style and script, and its content security policy allows no others.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"strings"
)

//go:embed parts
var parts embed.FS

// Data is the content of the page.
type Data struct {
	Title  string `json:"title"`
	Dishes []Dish `json:"dishes"`
	Run    *Run   `json:"run,omitempty"` // the last run, nil for none
	// Panels are the tool panels of extensions.
	Panels []Panel `json:"panels,omitempty"`
}

// Panel is a tool panel of an extension.
type Panel struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// Dish is a node of the graph.
type Dish struct {
	Name     string `json:"name"`
	Path     string `json:"path"`
	Language string `json:"language,omitempty"`
	Links    []Link `json:"links"`
	Tasks    []Task `json:"tasks"`
}

// Link is an edge from a dish to one of its dependencies.
type Link struct {
	Dish    string `json:"dish"`
	Kind    string `json:"kind"`
	Via     string `json:"via,omitempty"`
	Dev     bool   `json:"dev,omitempty"`
	Private bool   `json:"private,omitempty"`
	Cyclic  bool   `json:"cyclic,omitempty"`
	Where   string `json:"where,omitempty"` // file:line
}

// Task is one task of a dish.
type Task struct {
	Name       string   `json:"name"`
	Run        string   `json:"run"`
	Status     string   `json:"status"`
	Why        string   `json:"why,omitempty"`
	Key        string   `json:"key,omitempty"`
	Log        string   `json:"log,omitempty"`
	DependsOn  []string `json:"depends_on,omitempty"`
	Inputs     []string `json:"inputs,omitempty"` // some of them
	InputCount int      `json:"input_count,omitempty"`

	Place string `json:"-"` // another name of the task, by which its log is found; the page does not have it
}

// Run is a run with its timeline.
type Run struct {
	Command    string    `json:"command"`
	StartedAt  string    `json:"started_at"` // RFC 3339, with nanoseconds
	DurationMS int64     `json:"duration_ms"`
	Tasks      []RunTask `json:"tasks"`
}

// RunTask is a bar of the timeline.
type RunTask struct {
	ID         string `json:"id"`
	Outcome    string `json:"outcome"`
	StartMS    int64  `json:"start_ms"`
	DurationMS int64  `json:"duration_ms"`
	Row        int    `json:"row"`
	Critical   bool   `json:"critical,omitempty"`
}

// Write writes a page with its data.
func Write(w io.Writer, d Data) error {
	data, err := json.Marshal(d) // escapes text that could end the script element
	if err != nil {
		return err
	}
	return write(w, content{title: d.Title, data: string(data), script: script("model", "list", "graph", "panel", "time", "main"), policy: "default-src 'none'"})
}

// WriteServed writes the page that gets its data, and what runs do, from the server that it comes from.
func WriteServed(w io.Writer) error {
	return write(w, content{
		title: "bento", data: "null", script: script("model", "list", "graph", "panel", "time", "main", "served"),
		policy: "default-src 'none'; connect-src 'self'",
	})
}

// content is what differs between pages.
type content struct{ title, data, script, policy string }

func write(w io.Writer, c content) error {
	style := text("page.css")
	_, err := strings.NewReplacer(
		"{{TITLE}}", html.EscapeString(c.title), "{{DATA}}", c.data, "{{STYLE}}", style, "{{SCRIPT}}", c.script,
		"{{POLICY}}", c.policy+"; style-src '"+hash(style)+"'; script-src '"+hash(c.script)+"'; base-uri 'none'; form-action 'none'",
	).WriteString(w, text("page.html"))
	return err
}

// script returns one script of several files.
func script(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(text(name + ".js"))
	}
	return b.String()
}

// text returns an embedded file.
func text(name string) string {
	data, _ := parts.ReadFile("parts/" + name) // TestParts reads each
	return string(data)
}

// hash returns the source expression of a text in a content security policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
