# Every target is one line; longer ones are scripts.

.DEFAULT_GOAL := help
.PHONY: help build demo test test-short test-long check fuzz bare bench fmt release

export FUZZTIME ?= 10s

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

build: ## bin/bento
	CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o bin/bento ./cmd/bento

demo: ## build bento and run it on examples/polyglot, twice
	@scripts/demo

test: ## install the tools of the tests where possible, then check: 35 to 50 minutes on two cores
	@echo 'make test takes 35 to 50 minutes on two cores; make test-short, without real tools, takes 4'
	@scripts/toolchains
	@scripts/check

test-short: ## the tests without real tools and with fewer rounds: 4 minutes on two cores
	go test -trimpath -short ./...

test-long: ## every test with the race detector, every crash point: it takes hours
	@scripts/toolchains
	@scripts/check --long

check: ## gofmt, go.mod, go vet, staticcheck, every test
	@scripts/check

fuzz: ## every fuzz target for FUZZTIME (10s)
	@scripts/fuzz

bare: ## demo and test on bare Debian systems: two hours, as root with debootstrap
	@scripts/bare bookworm
	@scripts/bare trixie
	@scripts/bare --user trixie

bench: ## bento beside git status, ninja and turbo, then every benchmark
	@scripts/bench

fmt: ## gofmt -w
	@scripts/gofiles | xargs -0 gofmt -l -w

release: ## everything that VERSION=0.2.0 is published as, in dist/
	@go run ./internal/release -version "$(VERSION)" $(RELEASE_FLAGS)
