module example.com/shelf/lib

go 1.22

require github.com/google/go-cmp v0.7.0
