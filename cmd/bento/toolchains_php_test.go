package main

func phpToolchains() []toolchain { return nil }
