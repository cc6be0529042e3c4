package report

import (
	"fmt"
	"io"
)

// Plugins is the document of `bento plugin list`.
type Plugins struct {
	Schema  string   `json:"schema"`
	Plugins []Plugin `json:"plugins"`
}

// Plugin is one executable that was found on PATH.
type Plugin struct {
	ID          string  `json:"id"`
	Path        string  `json:"path"`
	Contract    string  `json:"contract"`
	Status      string  `json:"status"` // loaded, failed, disabled, not_allowed, not_trusted, shadowed
	Code        string  `json:"code,omitempty"`
	Message     string  `json:"message,omitempty"`
	DisplayName string  `json:"display_name,omitempty"`
	Identity    string  `json:"identity,omitempty"`
	HandshakeMS float64 `json:"handshake_ms,omitempty"`
}

// NewPlugins makes the document of plugins in the order of PATH.
func NewPlugins(list []Plugin) Plugins { return Plugins{Schema: Schema("plugin.list"), Plugins: list} }

// WritePlugins prints plugins for people.
func WritePlugins(w io.Writer, style Style, doc Plugins) {
	if len(doc.Plugins) == 0 {
		fmt.Fprintln(w, "no bento-adapter-* on PATH")
		return
	}
	for _, p := range doc.Plugins {
		paint := style.Green
		if p.Status != "loaded" {
			paint = style.Yellow
		}
		fmt.Fprintf(w, "%s %-16s %s\n", paint(fmt.Sprintf("%-11s", p.Status)), printable(p.ID), printable(p.Path))
		if p.DisplayName != "" {
			fmt.Fprintf(w, "            %s\n", style.Dim(printable(p.DisplayName)))
		}
		if p.Message != "" {
			fmt.Fprintf(w, "            %s\n", indent(printable(p.Message)))
		}
	}
}
