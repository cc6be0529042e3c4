package testrun

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Left returns the number and the command line of each process that a test may have left: has accepts one of its
// files in /proc. (filepath.Glob would list each of these directories: the kernel then takes milliseconds to end each
// process.)
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
