# Every target is one line; longer ones are scripts.

.DEFAULT_GOAL := help
.PHONY: help build demo test test-long check fuzz bench fmt

export FUZZTIME ?= 10s

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

build: ## bin/bento
	CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o bin/bento ./cmd/bento

demo: ## build bento and run it on examples/polyglot, twice
	@scripts/demo

test: ## install the tools of the tests where possible, then check
	@scripts/toolchains
	@scripts/check

test-long: ## every test with the race detector, every crash point: it takes hours
	@scripts/toolchains
	@scripts/check --long

check: ## gofmt, go.mod, go vet, staticcheck, every test
	@scripts/check

fuzz: ## every fuzz target for FUZZTIME (10s)
	@scripts/fuzz

bench: ## bento beside git status, ninja and turbo, then every benchmark
	@scripts/bench

fmt: ## gofmt -w
	@scripts/gofiles | xargs -0 gofmt -l -w
