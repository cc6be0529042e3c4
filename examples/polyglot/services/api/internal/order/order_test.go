package order

import (
	"errors"
	"testing"
)

func TestTotal(t *testing.T) {
	prices, err := ParsePrices([]byte(`{"dishes": [{"name": "rice", "price_cents": 160}, {"name": "tea", "price_cents": 100}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		order map[string]int
		want  int
	}{
		{nil, 0},
		{map[string]int{"rice": 1, "tea": 2}, 360},
		{map[string]int{"rice": 9}, 1440},
		{map[string]int{"rice": 10}, 1440},
	} {
		if got, err := prices.Total(test.order); err != nil || got != test.want {
			t.Errorf("Total(%v) = %d, %v, want %d", test.order, got, err, test.want)
		}
	}
	if _, err := prices.Total(map[string]int{"cake": 1}); !errors.Is(err, ErrUnknown) {
		t.Errorf("cake: got %v, want %v", err, ErrUnknown)
	}
}
