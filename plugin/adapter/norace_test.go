//go:build !race

package adapter

const slowness = 1
