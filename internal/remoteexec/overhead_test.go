package remoteexec

import (
	"fmt"
	"testing"
	"time"

	"github.com/bentobuild/bento/cache/remote/reapi"
	"github.com/bentobuild/bento/cache/remote/servertest"
)

// BenchmarkSmall executes small commands on buildbox-casd. ns/op is the time of one, and overhead-ms what it takes longer than the
// server's execution of an action that it has: uploads, and the way of the outputs into the workspace.
func BenchmarkSmall(b *testing.B) {
	x := newBench(b, servertest.Workers(b).GRPC, alikeAll)
	x.input("d/src.c", "source\n")
	client, err := x.cluster.client()
	if err != nil {
		b.Fatal(err)
	}
	var all, bare time.Duration
	n := 0
	for b.Loop() {
		n++
		began := time.Now()
		if res, _, err := x.run(b.Context(), x.command(fmt.Sprintf("cp src.c out; echo %d", n), "out")); err != nil || res.ExitCode != 0 {
			b.Fatal(res, err)
		}
		all += time.Since(began)

		b.StopTimer() // the same by the client alone
		e := &Executor{Cluster: x.cluster}
		a, err := e.action(b.Context(), x.command(fmt.Sprintf("cp src.c out; echo bare %d", n), "out"))
		if err == nil {
			err = e.upload(b.Context(), client, a, false)
		}
		if err != nil {
			b.Fatal(err)
		}
		began = time.Now()
		if _, err := client.Execute(b.Context(), a.digest, true, func(reapi.Stage) {}); err != nil {
			b.Fatal(err)
		}
		bare += time.Since(began)
		b.StartTimer()
	}
	b.ReportMetric(float64((all-bare).Microseconds())/1000/float64(n), "overhead-ms")
	b.ReportMetric(float64(bare.Microseconds())/1000/float64(n), "server-ms")
}
