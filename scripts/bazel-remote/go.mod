// What scripts/toolchains builds bazel-remote from: a release, with newer modules where those it names are not to be found.
module bazel-remote

go 1.26.0

require (
	github.com/buchgr/bazel-remote/v2 v2.6.1
	google.golang.org/genproto/googleapis/bytestream v0.0.0-20261104224025-d1e00e9f33ab
	google.golang.org/genproto/googleapis/rpc v0.0.0-20261110000943-09e21b237f2c
	google.golang.org/grpc v1.85.0
)
