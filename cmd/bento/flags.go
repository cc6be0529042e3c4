package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bentobuild/bento/internal/report/terminal"
)

// flags are the global flags, which every command has.
type flags struct {
	dir                       string
	json, noCache, verbose    bool
	color, output             string
	reportFiles               []string
	events, profile           string
	jobs                      string
	remoteJobs                int
	maxLoad                   float64
	keepGoing                 bool
	observe, sandbox, cache   string
	skipInstall, forceInstall bool

	set *pflag.FlagSet // the flags of the command line
}

func (f *flags) add(set *pflag.FlagSet) {
	f.set = set
	set.StringVarP(&f.dir, "workspace", "C", "", "start looking for the workspace in `DIR`")
	set.BoolVar(&f.json, "json", false, "print one JSON document")
	set.BoolVar(&f.noCache, "no-cache", false, "look nothing up in the cache; results are still stored")
	set.BoolVarP(&f.verbose, "verbose", "v", false, "say more on stderr")
	set.StringVar(&f.color, "color", "auto", "`WHEN` to use colour: auto, always, never")
	set.StringVar(&f.output, "output", string(terminal.Grouped), "`MODE` of task output: "+strings.Join(terminal.Modes(), ", "))
	set.Var(repeated{&f.reportFiles}, "report-file", "also write a report of the run to `FILE`: JSON, JUnit if it ends in .xml, SARIF if in .sarif (repeatable)")
	set.StringVar(&f.events, "events", "", "write what happens to `FILE` as it happens, one JSON object a line; - is stdout")
	set.StringVar(&f.profile, "profile", "", "write a trace of the run to `FILE`, for chrome://tracing and Perfetto")
	set.StringVarP(&f.jobs, "jobs", "j", "", "run `N` tasks at once, or N% of the CPUs (default: defaults.parallelism, else one a CPU)")
	set.IntVar(&f.remoteJobs, "remote-jobs", 0, "run `N` tasks at once on the workers of remote.exec (default: remote.jobs, else 50)")
	set.Float64Var(&f.maxLoad, "max-load", 0, "start no task beside others while the load average is `L` or more")
	set.StringVar(&f.observe, "observe", "", "which executions to observe: auto, always or never (default: defaults.observe)")
	set.StringVar(&f.cache, "cache", "", "what to do with the local and the remote cache: `MODE` such as local:r,remote:rw (default: cache.mode)")
	set.StringVar(&f.sandbox, "sandbox", "", "what tasks can use of the workspace: inputs (the flag alone) or none (default: defaults.sandbox)")
	set.Lookup("sandbox").NoOptDefVal = "inputs"
	set.BoolVar(&f.keepGoing, "keep-going", false, "after a failure go on with what does not depend on it")
	set.BoolVar(&f.skipInstall, "skip-install", false, "install no dependencies")
	set.BoolVar(&f.forceInstall, "force-install", false, "install dependencies even when they are up to date")
}

// everywhere are the flags that matter to every command.
var everywhere = []string{"workspace", "json", "verbose", "color"}

// ofWatch are further flags that matter to commands that run tasks, ofRuns those that matter if the command ends.
var (
	ofWatch = []string{"no-cache", "output", "events", "jobs", "remote-jobs", "max-load", "observe", "sandbox", "cache", "keep-going", "skip-install", "force-install"}
	ofRuns  = append([]string{"report-file", "profile"}, ofWatch...)
)

// written are the flags that name a file for a report about tasks. A command that writes no such file
// refuses them. All other global flags are accepted even if they have no effect, so that scripts can
// pass them to every command.
var written = []string{"report-file", "events", "profile"}

// globalFlags returns the global flags in two sets: general has the flags that matter to every command,
// and special the further flags that matter to cmd.
func globalFlags(cmd *cobra.Command) (general, special *pflag.FlagSet) {
	t := traitsOf(cmd)
	general, special = pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	cmd.Root().PersistentFlags().VisitAll(func(f *pflag.Flag) {
		switch {
		case slices.Contains(everywhere, f.Name):
			general.AddFlag(f)
		case cmd.LocalFlags().Lookup(f.Name) != nil && cmd.HasParent(): // the command defines its own flag of this name
		case t.matters(f.Name):
			special.AddFlag(f)
		}
	})
	return general, special
}

// ownFlags returns the flags that only cmd has.
func ownFlags(cmd *cobra.Command) *pflag.FlagSet {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if cmd.Root().PersistentFlags().Lookup(f.Name) != f {
			own.AddFlag(f)
		}
	})
	return own
}

// noneUnused returns an error for a flag that names a file which cmd does not write.
func noneUnused(cmd *cobra.Command) error {
	t := traitsOf(cmd)
	for _, name := range written {
		if f := cmd.Flags().Lookup(name); f == nil || !f.Changed || t.matters(name) || t.Refuses {
			continue
		}
		return usageError(fmt.Sprintf("%s writes no file for --%s", cmd.CommandPath(), name),
			"run, build, check, lint, test, ci and plugin test write it; redirect the output of "+cmd.CommandPath()+" --json instead")
	}
	return nil
}

// noneEmpty returns an error for a flag with an empty value. Most of them come from an unset variable:
// --since "$BASE" must not select everything then.
func noneEmpty(set *pflag.FlagSet) (err error) {
	set.Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if r, ok := f.Value.(repeated); ok {
			values = *r.list
		}
		if f.Name != "workspace" && slices.Contains(values, "") {
			err = usageError("--"+f.Name+" is given nothing", "leave it out, or see whether a variable is not set")
		}
	})
	return err
}
