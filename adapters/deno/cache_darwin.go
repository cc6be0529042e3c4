package deno

const cacheDir = "Library/Caches"
