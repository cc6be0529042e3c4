// Package ainb is the host's side of the ainb contract v2, for extensions: long-lived processes that
// follow a run, add commands and draw screens. This file and bytes.go are the values of the wire.
package ainb

import (
	"encoding/json"
	"fmt"
)

// Viewport is the size of a screen in cells.
type Viewport struct {
	Width  uint16 `json:"width"`
	Height uint16 `json:"height"`
}

// Buffer is a drawn screen. It lists painted cells only. A later cell replaces an earlier one at the same
// place.
type Buffer struct {
	Width  uint16   `json:"width"`
	Height uint16   `json:"height"`
	Cells  []Placed `json:"cells"`
}

// Placed is a cell with its place, on the wire an array of both.
type Placed struct {
	At   Coord
	Cell Cell
}

// Coord is a place on a screen, from 0.
type Coord struct {
	X uint16 `json:"x"`
	Y uint16 `json:"y"`
}

// Cell is the content of one place. Its symbol may have several code points, and must not be printed
// before control characters are removed.
type Cell struct {
	Symbol   string `json:"symbol"`
	FG       *Color `json:"fg,omitempty"`
	BG       *Color `json:"bg,omitempty"`
	Modifier uint16 `json:"modifier"`
}

// Color is a colour in RGB.
type Color struct {
	R uint8 `json:"r"`
	G uint8 `json:"g"`
	B uint8 `json:"b"`
}

// MarshalJSON implements json.Marshaler.
func (p Placed) MarshalJSON() ([]byte, error) { return json.Marshal([2]any{p.At, p.Cell}) }

// UnmarshalJSON implements json.Unmarshaler.
func (p *Placed) UnmarshalJSON(data []byte) error {
	var pair []json.RawMessage
	if err := json.Unmarshal(data, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return fmt.Errorf("a cell is an array of %d values, expected 2: its place and what it shows", len(pair))
	}
	if err := json.Unmarshal(pair[0], &p.At); err != nil {
		return err
	}
	return json.Unmarshal(pair[1], &p.Cell)
}

// Visible returns the cells inside the viewport, in their order. Others are clipped.
func (b *Buffer) Visible(v Viewport) []Placed {
	var inside []Placed
	for _, p := range b.Cells {
		if p.At.X < min(b.Width, v.Width) && p.At.Y < min(b.Height, v.Height) {
			inside = append(inside, p)
		}
	}
	return inside
}
