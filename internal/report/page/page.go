// Package page makes the HTML page that shows the graph of a workspace and the last run. The page loads no other
// files: it contains its style, script and data, and its content security policy allows no others.
package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"strings"
)

//go:embed page.html
var frame string

//go:embed page.css
var style string

//go:embed page.js
var script string

// Data is the content of the page.
type Data struct {
	Title  string `json:"title"`
	Dishes []Dish `json:"dishes"`
	Run    *Run   `json:"run,omitempty"` // the last run, nil if none is known
	// Panels are the tool panels of extensions.
	Panels []Panel `json:"panels,omitempty"`
}

// Panel is a tool panel of an extension.
type Panel struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// Dish is a node of the graph. Write computes its place.
type Dish struct {
	Name     string `json:"name"`
	Path     string `json:"path"`
	Language string `json:"language,omitempty"`
	Links    []Link `json:"links"`
	Tasks    []Task `json:"tasks"`

	X int `json:"x"`
	Y int `json:"y"`
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
}

// Run is a run with its timeline.
type Run struct {
	Command    string    `json:"command"`
	StartedAt  string    `json:"started_at"` // RFC 3339
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

// Write writes the page.
func Write(w io.Writer, d Data) error {
	place(d.Dishes)
	data, err := json.Marshal(d) // escapes text that could end the script element
	if err != nil {
		return err
	}
	_, err = strings.NewReplacer(
		"{{TITLE}}", html.EscapeString(d.Title), "{{DATA}}", string(data),
		"{{STYLE}}", style, "{{SCRIPT}}", script, "{{STYLE-HASH}}", hash(style), "{{SCRIPT-HASH}}", hash(script),
	).WriteString(w, frame)
	return err
}

// hash returns the source expression of a text in a content security policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
