module example.com/shelf/app

go 1.22

require (
	example.com/shelf/lib v0.0.0
	github.com/google/go-cmp v0.7.0
)

replace example.com/shelf/lib => ../lib
