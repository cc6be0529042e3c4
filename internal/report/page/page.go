// Package page makes the one HTML page that shows the graph of a workspace and the
// last run. It loads nothing: style, script and data are in it, and its content
// security policy allows no others.
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

// Data is what the page shows.
type Data struct {
	Title  string `json:"title"`
	Dishes []Dish `json:"dishes"`
	Run    *Run   `json:"run,omitempty"` // the last one, nil when none is known
	// Panels are the tool panels of extensions.
	Panels []Panel `json:"panels,omitempty"`
}

// Panel is a tool panel of an extension.
type Panel struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// Dish is a node of the graph. Where it stands is worked out by Write.
type Dish struct {
	Name     string `json:"name"`
	Path     string `json:"path"`
	Language string `json:"language,omitempty"`
	Links    []Link `json:"links"`
	Tasks    []Task `json:"tasks"`

	X int `json:"x"`
	Y int `json:"y"`
}

// Link is an edge to a dish that another depends on.
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
	data, err := json.Marshal(d) // escapes what could end the element that it stands in
	if err != nil {
		return err
	}
	_, err = strings.NewReplacer(
		"{{TITLE}}", html.EscapeString(d.Title), "{{DATA}}", string(data),
		"{{STYLE}}", style, "{{SCRIPT}}", script, "{{STYLE-HASH}}", hash(style), "{{SCRIPT-HASH}}", hash(script),
	).WriteString(w, frame)
	return err
}

// hash names a text as a content security policy does.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
