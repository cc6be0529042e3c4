package extension

import (
	"encoding/json"
	"unicode"
)

// Color is a colour of a cell.
type Color struct {
	R uint8 `json:"r"`
	G uint8 `json:"g"`
	B uint8 `json:"b"`
}

// Style is the look of text. Nil colours are the terminal's own.
type Style struct {
	FG       *Color `json:"fg,omitempty"`
	BG       *Color `json:"bg,omitempty"`
	Modifier uint16 `json:"modifier"` // passed on to bento unread
}

// Buffer is the screen to draw on, empty at first.
type Buffer struct {
	Width, Height int
	Redraw        bool // draw again soon, without an input
	CapturesText  bool // keys are text for this screen
	cells         map[place]cell
}

type place struct{ x, y int }

type cell struct {
	Symbol string `json:"symbol"`
	Style
}

// Set draws one cell. Places outside the screen are ignored.
func (b *Buffer) Set(x, y int, symbol string, s Style) {
	if x < 0 || y < 0 || x >= b.Width || y >= b.Height {
		return
	}
	if b.cells == nil {
		b.cells = make(map[place]cell)
	}
	b.cells[place{x, y}] = cell{symbol, s}
}

// Text draws text from x on, one column a character; combining marks join the one before.
// Control characters are drawn as spaces. It returns the column after the text.
func (b *Buffer) Text(x, y int, text string, s Style) int {
	from := x
	for _, r := range text {
		symbol := string(r)
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me) || r == '\u200d':
			if x > from {
				if c, ok := b.cells[place{x - 1, y}]; ok {
					b.Set(x-1, y, c.Symbol+symbol, s)
				}
			}
			continue
		case unicode.IsControl(r):
			symbol = " "
		}
		b.Set(x, y, symbol, s)
		x++
	}
	return x
}

// MarshalJSON writes the cells row by row: the same cells are the same bytes.
func (b *Buffer) MarshalJSON() ([]byte, error) {
	type coordinate struct {
		X int `json:"x"`
		Y int `json:"y"`
	}
	cells := [][2]any{}
	for y := range b.Height {
		if len(cells) == len(b.cells) {
			break
		}
		for x := range b.Width {
			if c, ok := b.cells[place{x, y}]; ok {
				cells = append(cells, [2]any{coordinate{x, y}, c})
			}
		}
	}
	return json.Marshal(map[string]any{"width": b.Width, "height": b.Height, "cells": cells})
}

// Key is a key that the user pressed.
type Key struct {
	Screen string  `json:"screen_id"`
	Code   KeyCode `json:"code"`
	Mods   uint8   `json:"mods"` // bits: 1 shift, 2 control, 4 alt, 8 super
	Kind   string  `json:"kind"` // press, repeat or release
}

// KeyCode names a key.
type KeyCode struct {
	Type string `json:"type"` // char, enter, up, f, …
	Ch   string `json:"ch"`   // of char
	N    int    `json:"n"`    // of f, from 1
}

// Mouse is a movement or click.
type Mouse struct {
	Screen string    `json:"screen_id"`
	Kind   MouseKind `json:"kind"`
	Col    int       `json:"col"`
	Row    int       `json:"row"`
	Mods   uint8     `json:"mods"`
}

// MouseKind is the action of the mouse.
type MouseKind struct {
	Type   string `json:"type"` // down, up, drag, moved, scroll_up, …
	Button struct {
		Type string `json:"type"` // left, right or middle
	} `json:"button"`
}
