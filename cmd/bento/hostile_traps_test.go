//go:build linux

package main

import (
	"fmt"
	"slices"
	"strings"
)

// What notes that it runs, in several languages.
const (
	trapJS     = "require('fs').writeFileSync('CANARY', '')\n"
	trapPython = "open('CANARY', 'w').close()\n"
	trapRuby   = "File.write('CANARY', '')\n"
	trapPHP    = "<?php touch('CANARY');\n"
	trapGroovy = "new File('CANARY').createNewFile()\n"
	trapJava   = "-Xlog:gc:file=CANARY\n" // the file is made when the virtual machine starts
)

// tools are programs that bento or a tool may look for by name.
func tools() []string {
	return []string{"git", "go", "cargo", "rustc", "rustup", "uv", "python", "python3", "pip", "poetry", "ruby", "bundle", "php", "composer", "java",
		"mvn", "gradle", "deno", "bun", "node", "npm", "npx", "pnpm", "yarn", "corepack", "mise", "asdf", "direnv", "sh", "env", "cc", "gcc", "tsc", "eslint"}
}

// below puts a directory in front of each name.
func below(dir string, names []string) (list []string) {
	for _, name := range names {
		list = append(list, dir+"/"+name)
	}
	return list
}

// lay writes all traps but git's: by name, in the order of the names.
func (c *hostile) lay() (names []string) {
	traps := make(map[string]func(*hostile))
	for _, some := range []map[string]func(*hostile){jvmTraps(), nodeTraps(), pythonTraps(), otherTraps()} {
		for name, lay := range some {
			traps[name] = lay
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, c.trap = range names {
		traps[c.trap](c)
	}
	return names
}

func jvmTraps() map[string]func(*hostile) {
	const pom = "<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>TRAPNAME</artifactId><version>1</version></project>\n"
	maven := func(c *hostile) { c.file("pom.xml", strings.Replace(pom, "TRAPNAME", c.trap, 1)) }
	gradle := func(c *hostile) { c.file("settings.gradle", ""); c.file("build.gradle", "plugins { id 'java' }\n") }
	return map[string]func(*hostile){
		"maven-wrapper":    func(c *hostile) { maven(c); c.program("mvnw") },
		"maven-jvm-config": func(c *hostile) { maven(c); c.file(".mvn/jvm.config", trapJava) },
		"maven-config":     func(c *hostile) { maven(c); c.file(".mvn/maven.config", "-Dmaven.ext.class.path=TRAP/x.jar\n") },
		"maven-extensions": func(c *hostile) {
			maven(c)
			c.file(".mvn/extensions.xml", "<extensions><extension><groupId>x</groupId><artifactId>y</artifactId><version>1</version></extension></extensions>\n")
		},
		"gradle-wrapper": func(c *hostile) { gradle(c); c.program("gradlew") },
		"gradle-jvmargs": func(c *hostile) { gradle(c); c.file("gradle.properties", "org.gradle.jvmargs="+trapJava) },
		"gradle-java-home": func(c *hostile) {
			gradle(c)
			c.file("gradle.properties", "org.gradle.java.home=TRAP/jdk\n")
			c.program("jdk/bin/java", "jdk/bin/javac")
		},
		"gradle-settings": func(c *hostile) { c.file("settings.gradle", trapGroovy); c.file("build.gradle", trapGroovy) },
		"gradle-init": func(c *hostile) {
			gradle(c)
			for _, name := range []string{"init.gradle", "init.d/x.gradle", ".gradle/init.gradle", "buildSrc/build.gradle"} {
				c.file(name, trapGroovy)
			}
		},
		"jvm-options": func(c *hostile) {
			maven(c)
			for _, name := range []string{".mavenrc", "JDK_JAVA_OPTIONS", ".jvmopts", ".java-version", ".sdkmanrc"} {
				c.file(name, trapJava)
			}
		},
	}
}

func nodeTraps() map[string]func(*hostile) {
	manifest := func(c *hostile, more string) {
		c.file("package.json", fmt.Sprintf(`{"name": %q, "scripts": {"build": "touch CANARY", "preinstall": "touch CANARY", "test": "touch CANARY"}%s}`, c.trap, more))
	}
	locked := func(c *hostile, lock string) {
		manifest(c, "")
		c.file(lock, "")
	}
	return map[string]func(*hostile){
		"yarn-path": func(c *hostile) {
			locked(c, "yarn.lock")
			c.file(".yarnrc.yml", "yarnPath: ./yarn.cjs\n")
			c.file("yarn.cjs", trapJS)
		},
		"yarn-plugins": func(c *hostile) {
			locked(c, "yarn.lock")
			c.file(".yarnrc.yml", "plugins:\n  - ./p.cjs\n")
			c.file("p.cjs", trapJS)
		},
		"yarn1-path": func(c *hostile) {
			locked(c, "yarn.lock")
			c.file(".yarnrc", "yarn-path \"./yarn.js\"\n")
			c.file("yarn.js", trapJS)
		},
		"pnpmfile": func(c *hostile) { locked(c, "pnpm-lock.yaml"); c.file(".pnpmfile.cjs", trapJS) },
		"pnpm-workspace": func(c *hostile) {
			locked(c, "pnpm-lock.yaml")
			c.file("pnpm-workspace.yaml", "packages: []\npnpmfile: ./p.cjs\nnodeVersion: 1.0.0\n")
			c.file("p.cjs", trapJS)
		},
		"package-manager": func(c *hostile) {
			manifest(c, `, "packageManager": "pnpm@file:./p.tgz"`)
			c.file("pnpm-lock.yaml", "")
		},
		"npmrc": func(c *hostile) {
			locked(c, "package-lock.json")
			c.file(".npmrc", "node-options=--require TRAP/x.cjs\nscript-shell=TRAP/sh\nprefix=TRAP\n")
			c.file("x.cjs", trapJS)
			c.program("sh")
		},
		"bunfig": func(c *hostile) {
			locked(c, "bun.lock")
			c.file("bunfig.toml", "preload = [\"./x.cjs\"]\n")
			c.file("x.cjs", trapJS)
		},
		"node-bin": func(c *hostile) { manifest(c, ""); c.program(below("node_modules/.bin", tools())...) },
		"eslintrc": func(c *hostile) {
			manifest(c, `, "devDependencies": {"eslint": "1", "prettier": "1", "typescript": "1"}`)
			for _, name := range []string{".eslintrc.js", ".eslintrc.cjs", "eslint.config.js", "vite.config.js", ".prettierrc.js", "jest.config.js"} {
				c.file(name, trapJS)
			}
		},
		"nvmrc": func(c *hostile) {
			manifest(c, "")
			c.file(".nvmrc", "TRAP/node\n")
			c.file(".node-version", "../../node\n")
			c.program("node")
		},
		"deno": func(c *hostile) {
			c.file("deno.json", `{"tasks": {"build": "touch CANARY"}, "imports": {"x": "./x.ts"}}`)
			c.file("x.ts", "")
		},
	}
}

func pythonTraps() map[string]func(*hostile) {
	project := func(c *hostile) {
		c.file("pyproject.toml", fmt.Sprintf("[project]\nname = %q\nversion = \"1\"\n[build-system]\nrequires = []\nbuild-backend = \"back\"\nbackend-path = [\".\"]\n", c.trap))
		c.file("back.py", trapPython)
	}
	return map[string]func(*hostile){
		"python-version": func(c *hostile) {
			project(c)
			c.file("uv.lock", "")
			c.file(".python-version", "TRAP/python\n")
			c.program("python")
		},
		"venv": func(c *hostile) {
			project(c)
			c.program(".venv/bin/python", ".venv/bin/python3", ".venv/bin/pip")
			c.file(".venv/pyvenv.cfg", "home = TRAP\n")
		},
		"uv-venv": func(c *hostile) {
			project(c)
			c.file("uv.lock", "")
			c.program(".venv/bin/python", ".venv/bin/python3")
			c.file(".venv/pyvenv.cfg", "home = TRAP\n")
		},
		"uv-settings": func(c *hostile) {
			project(c)
			c.file("uv.lock", "")
			c.file("uv.toml", "python-install-mirror = \"file://TRAP\"\n")
		},
		"sitecustomize": func(c *hostile) {
			project(c)
			for _, name := range []string{"sitecustomize.py", "usercustomize.py", "site.py", "platform.py", "sys.py", "pip.py", "venv.py"} {
				c.file(name, trapPython)
			}
		},
		"setup-py": func(c *hostile) {
			c.file("setup.py", trapPython+"from setuptools import setup\nsetup(name='x')\n")
			c.file("setup.cfg", "[metadata]\nname = x\n")
		},
		"conftest": func(c *hostile) {
			project(c)
			c.file("conftest.py", trapPython)
			c.file("noxfile.py", trapPython)
			c.file("requirements-dev.txt", "pytest\n")
		},
		"poetry": func(c *hostile) {
			project(c)
			c.file("poetry.lock", "")
			c.file("poetry.toml", "[virtualenvs]\npath = \"TRAP\"\n")
		},
	}
}

func otherTraps() map[string]func(*hostile) {
	crate := func(c *hostile) {
		c.file("Cargo.toml", fmt.Sprintf("[package]\nname = %q\nversion = \"1.0.0\"\n[workspace]\n", c.trap))
		c.file("src/lib.rs", "")
	}
	module := func(c *hostile, more string) {
		c.file("go.mod", "module example.com/x\n\ngo 1.21\n"+more)
		c.file("x.go", "package x\n\n//go:generate touch CANARY\n")
	}
	gems := func(c *hostile) { c.file("Gemfile", trapRuby); c.file("Gemfile.lock", "GEM\n  specs:\n") }
	return map[string]func(*hostile){
		"rust-toolchain": func(c *hostile) {
			crate(c)
			c.file("rust-toolchain.toml", "[toolchain]\npath = \"TRAP/tc\"\n")
			c.program("tc/bin/rustc", "tc/bin/cargo")
		},
		"rust-toolchain-relative": func(c *hostile) {
			crate(c)
			c.file("rust-toolchain", "./tc\n")
			c.program("tc/bin/rustc", "tc/bin/cargo")
		},
		"cargo-config": func(c *hostile) {
			crate(c)
			c.file(".cargo/config.toml", "[build]\nrustc = \"TRAP/r\"\nrustc-wrapper = \"TRAP/r\"\n[alias]\nversion = [\"run\"]\n[target.'cfg(all())']\nrunner = \"TRAP/r\"\n")
			c.program("r")
		},
		"build-rs": func(c *hostile) {
			crate(c)
			c.file("build.rs", "fn main() { std::fs::write(\"CANARY\", \"\").unwrap() }\n")
		},
		"go-toolchain": func(c *hostile) {
			module(c, "toolchain go1.99.0-evil\n")
			c.file("go.env", "GOFLAGS=-toolexec=TRAP/t\n")
			c.program("t")
		},
		"go-generate": func(c *hostile) { module(c, "") },
		"gemfile": func(c *hostile) {
			gems(c)
			c.file("Rakefile", trapRuby)
			c.file(".rubocop.yml", "require: ./x.rb\n")
			c.file("x.rb", trapRuby)
		},
		"gemspec": func(c *hostile) {
			gems(c)
			c.file("x.gemspec", trapRuby)
			c.file(".rspec", "--require ./x.rb\n")
			c.file("x.rb", trapRuby)
		},
		"bundle-config": func(c *hostile) {
			gems(c)
			c.file(".bundle/config", "---\nBUNDLE_RUBYOPT: \"-rTRAP/x.rb\"\nBUNDLE_PATH: \"TRAP\"\n")
			c.file("x.rb", trapRuby)
			c.file(".irbrc", trapRuby)
		},
		"ruby-version": func(c *hostile) { gems(c); c.file(".ruby-version", "TRAP/ruby\n"); c.program("ruby") },
		"composer": func(c *hostile) {
			c.file("composer.json", `{"name": "x/y", "scripts": {"pre-command-run": "touch CANARY", "command": "touch CANARY", "test": "touch CANARY"}, "autoload": {"files": ["x.php"]}, "config": {"allow-plugins": true}}`)
			c.file("x.php", trapPHP)
			c.file("vendor/autoload.php", trapPHP)
			c.program("vendor/bin/phpunit", "vendor/bin/phpstan", "composer.phar")
		},
		"user-ini": func(c *hostile) {
			c.file("composer.json", `{"name": "x/z"}`)
			for _, name := range []string{".user.ini", "php.ini", "php-cli.ini"} {
				c.file(name, "auto_prepend_file = \"TRAP/x.php\"\n")
			}
			c.file("x.php", trapPHP)
		},
		"tool-versions": func(c *hostile) {
			module(c, "")
			c.file(".tool-versions", "golang path:TRAP\nnodejs ref:x\npython path:TRAP\n")
			c.program(below("bin", tools())...)
		},
		"mise": func(c *hostile) {
			module(c, "")
			c.file("mise.toml", "[env]\n_.source = \"./env.sh\"\nPATH = \"TRAP/bin\"\n[hooks]\nenter = \"touch CANARY\"\ncd = \"touch CANARY\"\n")
			c.file("env.sh", "touch CANARY\n")
			c.program(below("bin", tools())...)
		},
		"envrc": func(c *hostile) {
			module(c, "")
			c.file(".envrc", "touch CANARY\n")
			c.file(".env", "PATH=TRAP/bin\nLD_PRELOAD=TRAP/x.so\nBASH_ENV=TRAP/.envrc\n")
		},
		"makefile": func(c *hostile) {
			c.file("Makefile", "X := $(shell touch CANARY)\nall:\n\ttouch CANARY\n")
			c.file("justfile", "x := `touch CANARY`\n")
			module(c, "")
		},
		"adapter": func(c *hostile) {
			module(c, "")
			c.program("bento-adapter-evil", "bin/bento-adapter-evil", ".bento/bin/bento-adapter-evil", "node_modules/.bin/bento-adapter-evil")
		},
		"dish-env": func(c *hostile) {
			module(c, "")
			c.program(below("bin", tools())...)
			c.file("dish.toml", "[tasks.build]\nrun = \"touch CANARY\"\nenv = { PATH = \"TRAP/bin\", LD_PRELOAD = \"TRAP/x.so\", BASH_ENV = \"TRAP/x\", GOROOT = \"TRAP\", NODE_OPTIONS = \"--require TRAP/x.js\" }\nenv_files = [\".env\"]\n")
			c.file(".env", "PATH=TRAP/bin\nRUBYOPT=-rTRAP/x.rb\n")
		},
		"only-run": func(c *hostile) {
			c.file("dish.toml", "language = \"none\"\n[tasks.build]\nrun = \"touch CANARY\"\n[tasks.serve]\nrun = \"touch CANARY\"\npersistent = true\n")
		},
	}
}
