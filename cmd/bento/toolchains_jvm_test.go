package main

func jvmToolchains() []toolchain { return nil }
