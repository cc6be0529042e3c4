module example.com/lunchbox/api

go 1.22
