// Package order computes the price of an order.
package order

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrUnknown is the cause of errors about a dish that the price table lacks.
var ErrUnknown = errors.New("not on the menu")

// Prices are in cents, by the name of the dish.
type Prices map[string]int

// ParsePrices reads a price table, as the pricing tool writes it.
func ParsePrices(data []byte) (Prices, error) {
	var table struct {
		Dishes []struct {
			Name  string `json:"name"`
			Cents int    `json:"price_cents"`
		} `json:"dishes"`
	}
	if err := json.Unmarshal(data, &table); err != nil {
		return nil, fmt.Errorf("price table: %w", err)
	}
	prices := make(Prices)
	for _, d := range table.Dishes {
		prices[d.Name] = d.Cents
	}
	return prices, nil
}

// A lunch box of this many portions or more is cheaper.
const (
	manyPortions = 10
	discount     = 10 // percent
)

// Total returns the price in cents of this many portions of each dish.
func (p Prices) Total(portions map[string]int) (int, error) {
	sum, count := 0, 0
	for name, n := range portions {
		price, ok := p[name]
		switch {
		case !ok:
			return 0, fmt.Errorf("%q: %w", name, ErrUnknown)
		case n < 0 || n > 1000:
			return 0, fmt.Errorf("%q: %d portions, expected 0 to 1000", name, n)
		}
		sum, count = sum+n*price, count+n
	}
	if count >= manyPortions {
		sum -= sum * discount / 100
	}
	return sum, nil
}
