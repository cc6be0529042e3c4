package environment

import (
	"strings"
	"testing"
)

func TestScaffoldFiles(t *testing.T) {
	for name, module := range map[string]string{"my-lib": "my_lib", "Web.App_": "web_app", "json": "app_json", "class": "app_class", "3d": "app_3d", "test": "app_test"} {
		files := ScaffoldFiles(name, "# more\n")
		found := false
		for _, f := range files {
			found = found || f.Path == "src/"+module+"/__init__.py"
			if f.Path == "pyproject.toml" && (!strings.HasSuffix(string(f.Data), "# more\n") || !strings.Contains(string(f.Data), `name = "`+strings.Trim(name, "_")+`"`)) {
				t.Errorf("%s: %s", name, f.Data)
			}
		}
		if !found {
			t.Errorf("%s: no module %s", name, module)
		}
	}
}
