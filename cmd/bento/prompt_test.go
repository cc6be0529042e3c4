package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPrompt: at a question Ctrl-C ends bento with 130 at once, and every answer but yes is no.
func TestPrompt(t *testing.T) {
	t.Parallel()
	p := openPane(t, needTool(t, "tmux"), 100, 30)
	bin := needTool(t, "bento")
	write(t, p.dir, "bento.toml", "")
	write(t, p.dir, "d/dish.toml", "language = \"none\"\n[tasks.build]\nrun = \"echo made > out\"\noutputs = [\"out\"]\n")
	made := filepath.Join(p.dir, "d", "out")
	cache := "export BENTO_CACHE_DIR=" + filepath.Join(p.dir, "cache") + "; "
	p.run(cache + bin + " build; exec cat")
	p.untilText("1 built")
	for _, asked := range []struct{ command, question, stays string }{
		{"cache clear", "remove 1 result, ", filepath.Join(p.dir, "cache", "v4")},
		{"clean", "remove 1 file, 5 B?", made},
	} {
		for _, answer := range []struct{ key, says, code string }{
			{"C-c", "", "130"}, {"n", "nothing removed", "0"}, {"Enter", "nothing removed", "0"}, {"C-d", "nothing removed", "0"}, {"perhaps", "nothing removed", "0"},
		} {
			p.run(cache + bin + " " + asked.command + "; echo code $?; exec cat")
			p.untilText(asked.question, "[y/N]")
			p.keys(answer.key)
			if answer.key == "n" || answer.key == "perhaps" {
				p.keys("Enter")
			}
			p.untilText(answer.says, "\ncode "+answer.code)
			if _, err := os.Stat(asked.stays); err != nil {
				t.Fatalf("%s, answer %s: %v", asked.command, answer.key, err)
			}
		}
		p.run(cache + bin + " " + asked.command + "; echo code $?; exec cat")
		p.untilText("[y/N]")
		p.keys("y", "Enter")
		p.untilText("removed", "\ncode 0")
	}
	if _, err := os.Stat(made); err == nil {
		t.Error("the output is still there after yes")
	}
}
