package main

func denoToolchains() []toolchain { return nil }
