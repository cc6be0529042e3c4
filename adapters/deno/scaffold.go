package deno

import (
	"fmt"

	"github.com/bentobuild/bento/adapters"
)

// Scaffold implements adapters.Scaffolder: a module with a test.
func (a *Adapter) Scaffold(name string) ([]adapters.ScaffoldFile, error) {
	return []adapters.ScaffoldFile{
		{Path: "deno.json", Data: []byte("{\n  \"exports\": \"./mod.ts\"\n}\n")},
		{Path: "mod.ts", Data: fmt.Appendf(nil, "export function greet(name: string): string {\n  return `hello ${name}, from %s`;\n}\n", name)},
		{Path: "mod_test.ts", Data: fmt.Appendf(nil, `import { greet } from "./mod.ts";

Deno.test("greets by name", () => {
  const got = greet("you");
  if (got !== "hello you, from %s") throw new Error(got);
});
`, name)},
	}, nil
}
