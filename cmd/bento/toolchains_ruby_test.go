package main

func rubyToolchains() []toolchain { return nil }
