//go:build race

package adapter

const slowness = 4
