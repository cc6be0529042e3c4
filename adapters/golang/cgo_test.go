package golang

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters/snapshot"
)

func TestEmbedsOfCgo(t *testing.T) {
	source := `package a

/*
#cgo CFLAGS: -I${SRCDIR}/../../native/include -I../own -I${OTHER}/../../../x -DX=1
#cgo linux LDFLAGS: -L../../native/lib -ladd "${SRCDIR}/../../native/a.o"
#cgo pkg-config: png
#include <stdio.h>
#include "../../native/add.h"
#include "inside.h"
*/
// #include "../../native/one.h"
import "C"
`
	embeds := func(source string) (got []string) {
		for _, e := range New(snapshot.Options{}).Embeds("/w/m", "/w/m/p/a.go", []byte(source)) {
			got = append(got, fmt.Sprint(e.Line, " ", e.Path))
		}
		return got
	}
	want := []string{
		"4 /w/native/include", "4 /w/m/own", "5 /w/native/lib", "5 /w/native/a.o", "8 /w/native/add.h", "11 /w/native/one.h",
	}
	if diff := cmp.Diff(want, embeds(source)); diff != "" {
		t.Error(diff)
	}
	if got := embeds(source[:len(source)-len("import \"C\"\n")]); got != nil {
		t.Errorf("without import \"C\": %v", got)
	}
}
