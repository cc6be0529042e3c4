//go:build !darwin

package deno

const cacheDir = ".cache"
