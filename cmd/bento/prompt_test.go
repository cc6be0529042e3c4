package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPrompt: Ctrl-C at a question ends bento with 130 at once, and every answer other than yes means no.
func TestPrompt(t *testing.T) {
	t.Parallel()
	p := openPane(t, needTool(t, "tmux"), 120, 30)
	bin := builtBento(t)
	write(t, p.dir, "bento.toml", "")
	write(t, p.dir, "d/dish.toml", "language = \"none\"\n[tasks.build]\nrun = \"echo made > out\"\noutputs = [\"out\"]\n")
	made := filepath.Join(p.dir, "d", "out")
	cache := "export BENTO_CACHE_DIR=" + filepath.Join(p.dir, "cache") + "; "
	p.run(cache + bin + " build; exec cat")
	p.untilText("1 built")
	for _, asked := range []struct{ command, question, stays string }{
		{"cache clear", "remove 1 result, ", filepath.Join(p.dir, "cache", "v5")},
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

// TestPromptOfInit: at a terminal, bento init asks whether to add the outputs of recipes to .gitignore. It
// writes bento.toml whatever the answer is.
func TestPromptOfInit(t *testing.T) {
	t.Parallel()
	needTool(t, "go")
	git := needTool(t, "git")
	p := openPane(t, needTool(t, "tmux"), 100, 30)
	bin := builtBento(t)
	write(t, p.dir, "a/go.mod", "module example.com/a\n\ngo 1.22\n")
	write(t, p.dir, "a/main.go", "package main\n\nfunc main() {}\n")
	ignore, toml := filepath.Join(p.dir, ".gitignore"), filepath.Join(p.dir, "bento.toml")
	for _, answer := range []struct{ key, says, code string }{
		{"C-c", "", "130"}, {"n", "bento init --gitignore adds to .gitignore", "0"}, {"y", "changed .gitignore", "0"},
	} {
		p.run("rm -f bento.toml; " + git + " init -q; " + bin + " init; echo code $?; exec cat")
		p.untilText("git does not ignore \"/a/bin/\"", "[y/N]")
		p.keys(answer.key)
		if answer.key != "C-c" {
			p.keys("Enter")
		}
		p.untilText(answer.says, "\ncode "+answer.code)
		if _, err := os.Stat(toml); err != nil {
			t.Fatalf("answer %s: %v", answer.key, err)
		}
		if _, err := os.Stat(ignore); (err == nil) != (answer.key == "y") {
			t.Fatalf("answer %s: .gitignore: %v", answer.key, err)
		}
	}
}

// TestPromptOfTask: at a terminal, bento asks before it executes a task with confirm, once, and not for a cache hit.
func TestPromptOfTask(t *testing.T) {
	t.Parallel()
	p := openPane(t, needTool(t, "tmux"), 100, 30)
	bin := builtBento(t)
	write(t, p.dir, "bento.toml", "")
	write(t, p.dir, "d/dish.toml", "language = \"none\"\n[tasks.deploy]\nrun = \"echo made > out\"\noutputs = [\"out\"]\nconfirm = \"Deploy to production?\"\n"+
		"[tasks.a]\nrun = \"true\"\ndepends_on = [\"deploy\"]\n[tasks.b]\nrun = \"true\"\ndepends_on = [\"deploy\"]\n")
	made := filepath.Join(p.dir, "d", "out")
	cache := "export BENTO_CACHE_DIR=" + filepath.Join(p.dir, "cache") + "; "
	for _, answer := range []struct{ key, says, code string }{
		{"C-c", "", "130"}, {"n", "d:deploy was not confirmed, so nothing runs", "2"}, {"Enter", "d:deploy was not confirmed", "2"},
	} {
		p.run(cache + bin + " run a b; echo code $?; exec cat")
		p.untilText("d:deploy: Deploy to production? [y/N]")
		p.keys(answer.key)
		if answer.key == "n" {
			p.keys("Enter")
		}
		p.untilText(answer.says, "\ncode "+answer.code)
		if _, err := os.Stat(made); err == nil {
			t.Fatalf("answer %s: the task ran", answer.key)
		}
	}
	p.run(cache + bin + " run a b; echo code $?; exec cat")
	p.untilText("[y/N]")
	p.keys("y", "Enter")
	p.untilText("3 built", "\ncode 0")
	p.run(cache + bin + " run a b; echo code $?; exec cat")
	p.untilText("3 hits", "\ncode 0")
}

// TestNewAsks: at a terminal bento new asks for each variable until the answer is a value. An interrupt writes nothing.
func TestNewAsks(t *testing.T) {
	t.Parallel()
	p, bin := openPane(t, needTool(t, "tmux"), 100, 24), builtBento(t)
	write(t, p.dir, "bento.toml", "")
	write(t, p.dir, "templates/notes/template.toml", "[variables.port]\ndescription = \"The port\"\ndefault = \"80\"\npattern = \"[0-9]+\"\n[variables.owner]\n")
	write(t, p.dir, "templates/notes/a.txt.tmpl", "{{owner}} {{port}}\n")
	p.run(bin + " new notes n; echo code $?; exec cat")
	p.untilText("bento: port: The port [80]:")
	p.keys("x", "Enter")
	p.untilText(`the value is "x", expected a match`)
	p.keys("Enter")
	p.untilText("bento: owner:")
	p.keys("C-c")
	p.untilText("\ncode 130")
	if _, err := os.Stat(filepath.Join(p.dir, "n")); err == nil {
		t.Fatal("an interrupted bento new made the directory")
	}
	p.run(bin + " new notes n --set port=8; echo code $?; exec cat")
	p.untilText("bento: owner:")
	p.keys("Enter")
	p.untilText("the value is required")
	p.keys("me", "Enter")
	p.untilText("made  n/a.txt", "\ncode 0")
	if data, err := os.ReadFile(filepath.Join(p.dir, "n", "a.txt")); err != nil || string(data) != "me 8\n" {
		t.Errorf("%q, %v", data, err)
	}
}
