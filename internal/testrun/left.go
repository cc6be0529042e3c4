package testrun

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Left returns the processes that a test may have left: the number and the command line of every process whose file below its directory in
// /proc satisfies has. (filepath.Glob would list each of these directories: the kernel then takes
// milliseconds for the end of each process.)
func Left(file string, has func(text []byte) bool) (found []string) {
	names, _ := os.ReadDir("/proc")
	for _, name := range names {
		if _, err := strconv.Atoi(name.Name()); err != nil {
			continue
		}
		dir := filepath.Join("/proc", name.Name())
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || !has(text) {
			continue
		}
		if state, _ := os.ReadFile(filepath.Join(dir, "stat")); !bytes.Contains(state, []byte(") Z ")) {
			line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
			found = append(found, name.Name()+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// LeftIn returns the processes that run a program in dir, as Left does.
func LeftIn(dir string) []string {
	return Left("cmdline", func(line []byte) bool { return bytes.HasPrefix(line, []byte(dir+"/")) })
}
