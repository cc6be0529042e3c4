package php

import (
	"fmt"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// Scaffold implements adapters.Scaffolder. PHP comes with no test runner, so the test is
// a program.
func (a *Adapter) Scaffold(name string) ([]adapters.ScaffoldFile, error) {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("._-", r) })
	project := strings.Join(words, "-")
	return []adapters.ScaffoldFile{
		{Path: manifestFile, Data: fmt.Appendf(nil, scaffoldManifest, project)},
		{Path: "src/Greeter.php", Data: []byte(scaffoldSource)},
		{Path: "tests/greeter.php", Data: []byte(scaffoldTest)},
		{Path: ".gitignore", Data: []byte("/vendor/\n")},
	}, nil
}

const scaffoldManifest = `{
    "name": "example/%s",
    "require": {
        "php": ">=7.4"
    },
    "autoload": {
        "psr-4": {
            "Example\\": "src/"
        }
    },
    "scripts": {
        "build": "@composer dump-autoload --optimize",
        "test": "@php tests/greeter.php",
        "lint": "find src tests -name '*.php' -print0 | xargs -0 -n 1 php -l"
    }
}
`

const scaffoldSource = `<?php

namespace Example;

class Greeter
{
    public function greet(string $name): string
    {
        return "hello from $name";
    }
}
`

const scaffoldTest = `<?php

require __DIR__ . '/../vendor/autoload.php';

$got = (new Example\Greeter())->greet('here');
if ($got !== 'hello from here') {
    fwrite(STDERR, "greet gives $got\n");
    exit(1);
}
echo "ok\n";
`
