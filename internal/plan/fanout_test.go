package plan

import (
	"strings"
	"testing"
)

func TestFansOut(t *testing.T) {
	scripts := map[string]string{
		"turbo": "turbo run build", "css": "sass a b", "again": "npm run again", "all": "npm run turbo && yarn css", "both": "run-s turbo",
	}
	script := func(name string) string { return scripts[name] }
	for _, text := range strings.Split(`turbo run build
turbo build && nx run-many -t build
nx run-many --target=build
lerna run build
wireit
rush build
bento build
pnpm -r build
pnpm run -r build
pnpm --filter=./packages/* build
pnpm --filter './packages/*' build
pnpm -F a build
pnpm recursive run build
yarn workspaces run build
yarn workspaces foreach -A run build
yarn workspace a build
npm run build -ws
npm -w a run build
npm run build --workspace=a --if-present
npm run build --workspaces
bun --filter '*' build
bun run --filter=* build
deno task -r build
deno task --filter a build
dotenv turbo run build
dotenv -e .env -- turbo run build
dotenv -e .env turbo run build
cross-env NODE_ENV=production CI=1 turbo run build
NODE_ENV=production turbo run build
env A=1 npx turbo build
npx -y lerna run build
pnpm exec turbo build
pnpm turbo build
yarn turbo build
pnpm dlx nx build
pn -r build
pn run -r build
CI=1 pn --filter a build
pn exec turbo build
pn turbo build
pnx nx build
pn run both
echo "a && b" && turbo build; true
npm run turbo
yarn turbo:none || turbo build
npm run both
run-s turbo`, "\n") {
		want := text != "yarn turbo:none || turbo build"
		if _, got := fansOut(text, script); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{
		"", "true", "echo turbo", "eslint .", "turbo run build && node post.js", "node turbo", "tsc -b", "'turbo run' build",
		"npm run build", "npm run build -- -w", "pnpm build -- -r", "pnpm exec eslint .", "pn eslint .", "pn build -- -r", "npm run css", "npm run again", "npm run all", "run-s turbo css",
		"cross-env CI=1", "dotenv", "deno run -r x.ts", "yarn", "npm test", "vitest -r a", "turbo-x build",
	} {
		if _, ok := fansOut(text, script); ok {
			t.Errorf("%q hands on to members", text)
		}
	}
}

func FuzzFansOut(f *testing.F) {
	for _, seed := range []string{"cross-env A=1 turbo run 'x y'", "npm run a && dotenv -- pnpm -r b", `"`, "env -c", "run-p a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fansOut(text, func(name string) string { return text })
		for _, words := range commands(text) {
			for _, word := range words {
				if len(word) > len(text)*4 { // a bad byte becomes one of three
					t.Errorf("%q of %q", word, text)
				}
			}
		}
	})
}
