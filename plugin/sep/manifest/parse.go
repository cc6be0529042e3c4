package manifest

import (
	"fmt"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/jsonfile"
	"github.com/bentobuild/bento/internal/pattern"
)

// MaxSize is the size limit of a manifest, in bytes.
const MaxSize = 1 << 20

// RuleInvalid is the rule of the diagnostics of a manifest that the schema refuses.
const RuleInvalid = "sep_manifest_invalid"

// The forms of strings. They match ASCII digits only, and never a line break at the end.
var (
	triple     = pattern.New(`^[0-9]+\.[0-9]+\.[0-9]+$`)
	release    = pattern.New(`^[0-9]+\.[0-9]+\.[0-9]+(?:[-+][A-Za-z0-9._-]+)?$`)
	identifier = pattern.New(`^[a-z0-9]+(?:[._-][a-z0-9]+)+$`)
	panelID    = pattern.New(`^[a-z0-9]+(?:[._-][a-z0-9]+)*$`)
	topic      = pattern.New(`^[a-z0-9]+(?:\.[a-z0-9]+)+$`)
	variable   = pattern.New(`^[A-Z_][A-Z0-9_]*$`)
)

// noLimit is the length limit of a string without a specific limit.
const noLimit = MaxSize

const wantTriple = `three numbers with dots, such as "1.0.0"`

// Parse reads a manifest; path is its name in messages. The error is a diagnostics.Problems with
// every fault, each with its place.
func Parse(path string, data []byte) (*Manifest, error) {
	r := &reader{file: path, rule: RuleInvalid}
	if len(data) > MaxSize {
		r.fail(value{}, "", "has %d bytes, required at most %d", len(data), MaxSize)
		return nil, r.problems
	}
	root, err := jsonfile.ParseStrict(path, data)
	if err != nil {
		return nil, err
	}
	m := &Manifest{path: path, root: root}
	r.manifest(value{root, ""}, m)
	if len(r.problems) > 0 {
		return nil, diagnostics.Problems(diagnostics.Sorted(r.problems))
	}
	return m, nil
}

func (r *reader) manifest(v value, m *Manifest) {
	versions := func(into *string) func(value) {
		return func(v value) { r.text(v, text{0, noLimit, triple, wantTriple}, into) }
	}
	r.object(v,
		must("schemaVersion", versions(&m.SchemaVersion)),
		must("id", func(v value) {
			r.text(v, text{3, 128, identifier, `lower-case letters and digits in at least two parts, with one ".", "_" or "-" between them`}, &m.ID)
		}),
		must("name", func(v value) { r.text(v, text{min: 1, max: 80}, &m.Name) }),
		may("description", func(v value) { r.text(v, text{max: 512}, &m.Description) }),
		must("version", func(v value) {
			r.text(v, text{0, noLimit, release, `three numbers with dots, and "-" or "+" before a suffix, such as "1.2.0-rc.1"`}, &m.Version)
		}),
		must("apiVersion", versions(&m.APIVersion)),
		must("trustLevel", func(v value) {
			r.word(v, []string{FirstParty, TrustedThirdParty, UntrustedLocal}, &m.TrustLevel)
		}),
		may("platformProfile", func(v value) { r.word(v, []string{"desktop", "android"}, &m.Profile) }),
		must("entrypoint", func(v value) { r.entrypoint(v, &m.Entrypoint) }),
		must("permissions", func(v value) {
			m.Permissions = r.set(v, 64, func(v value, into *string) { r.word(v, Permissions(), into) })
		}),
		may("events", func(v value) { m.Events = r.events(v) }),
		must("health", func(v value) { r.health(v, &m.Health) }),
		must("limits", func(v value) { r.limits(v, &m.Limits) }),
		may("ui", func(v value) { m.UI = r.ui(v) }),
		may("compatibility", func(v value) { m.Compatibility = r.compatibility(v) }),
		may("android", func(v value) { m.Android = r.android(v) }),
		may("signing", func(v value) { m.Signing = r.signing(v) }),
	)
	if v.Get("platformProfile").Text() == "android" && v.Get("android") == nil {
		r.fail(v, "", `has no member "android", which the profile "android" requires`)
	}
}

func (r *reader) entrypoint(v value, e *Entrypoint) {
	r.object(v,
		must("command", func(v value) { r.text(v, text{min: 1, max: 256}, &e.Command) }),
		must("args", func(v value) {
			e.Args = []string{}
			r.list(v, 64, func(v value) {
				var arg string
				r.text(v, text{max: 2048}, &arg)
				e.Args = append(e.Args, arg)
			})
		}),
		may("workingDirectory", func(v value) { r.text(v, text{max: 512}, &e.WorkingDirectory) }),
		may("environment", func(v value) { e.Environment = r.environment(v) }),
	)
}

func (r *reader) environment(v value) map[string]string {
	if !r.is(v, jsonfile.Object) {
		return nil
	}
	if n := len(v.Members()); n > 64 {
		r.fail(v, "", "has %d members, required at most 64", n)
		return nil
	}
	env := make(map[string]string)
	for _, m := range v.Members() {
		at := value{m.Value, v.path + "." + m.Name}
		if !variable.MatchString(m.Name) {
			r.fail(value{m.Value, v.path}, "", `has a member %.60q, required names of upper-case letters, digits and "_"`, m.Name)
			continue
		}
		var content string
		r.text(at, text{max: 4096}, &content)
		env[m.Name] = content
	}
	return env
}

func (r *reader) events(v value) *Events {
	var e Events
	r.object(v, may("subscribe", func(v value) {
		e.Subscribe = r.set(v, 256, func(v value, into *string) {
			r.text(v, text{0, 128, topic, `lower-case letters and digits in at least two parts, with dots between them`}, into)
		})
	}))
	return &e
}

func (r *reader) health(v value, h *Health) {
	r.object(v,
		must("startupTimeoutMs", func(v value) { r.integer(v, 1000, 120000, &h.StartupTimeoutMs) }),
		must("heartbeatIntervalMs", func(v value) { r.integer(v, 1000, 120000, &h.HeartbeatIntervalMs) }),
		must("unhealthyAfterMissedHeartbeats", func(v value) { r.integer(v, 1, 20, &h.MissedHeartbeats) }),
	)
}

func (r *reader) limits(v value, l *Limits) {
	r.object(v,
		must("maxRequestBytes", func(v value) { r.integer(v, 1024, 4<<20, &l.MaxRequestBytes) }),
		must("maxRequestsPerSecond", func(v value) { r.integer(v, 1, 10000, &l.MaxRequestsPerSecond) }),
		must("maxConcurrentRequests", func(v value) { r.integer(v, 1, 1024, &l.MaxConcurrentRequests) }),
	)
}

func (r *reader) ui(v value) *UI {
	var u UI
	r.object(v, may("toolPanels", func(v value) {
		r.list(v, MaxPanels, func(v value) {
			var p Panel
			r.object(v, r.panel(&p)...)
			u.ToolPanels = append(u.ToolPanels, p)
		})
	}))
	return &u
}

// MaxPanels is how many panels an extension may have.
const MaxPanels = 32

// panel returns the fields of a panel.
func (r *reader) panel(p *Panel) []field {
	return []field{
		must("id", func(v value) {
			r.text(v, text{0, 128, panelID, `lower-case letters and digits, with one ".", "_" or "-" between parts`}, &p.ID)
		}),
		must("title", func(v value) { r.text(v, text{min: 1, max: 80}, &p.Title) }),
		must("slot", func(v value) {
			r.word(v, []string{"tools.page.primary", "tools.page.secondary", "tools.page.advanced"}, &p.Slot)
		}),
	}
}

func (r *reader) compatibility(v value) *Compatibility {
	var c Compatibility
	platforms := []string{"linux-x64", "linux-arm64", "windows-x64", "windows-arm64", "macos-x64", "macos-arm64", "android-arm64"}
	r.object(v,
		may("meshchatx", func(v value) { r.text(v, text{min: 1, max: 64}, &c.Host) }),
		may("platforms", func(v value) {
			c.Platforms = r.set(v, 16, func(v value, into *string) { r.word(v, platforms, into) })
		}),
	)
	return &c
}

func (r *reader) android(v value) *Android {
	var a Android
	r.object(v,
		must("runtimeMode", func(v value) { r.word(v, []string{"packaged_module", "approved_runtime"}, &a.RuntimeMode) }),
		must("allowBackgroundExecution", func(v value) { r.flag(v, &a.Background) }),
		may("maxStartupTimeMs", func(v value) { r.integer(v, 1000, 120000, &a.MaxStartupTimeMs) }),
		may("maxMemoryMb", func(v value) { r.integer(v, 16, 2048, &a.MaxMemoryMb) }),
	)
	return &a
}

func (r *reader) signing(v value) *Signing {
	var s Signing
	r.object(v,
		must("required", func(v value) { r.flag(v, &s.Required) }),
		must("keyId", func(v value) { r.text(v, text{max: 256}, &s.KeyID) }),
		must("signature", func(v value) { r.text(v, text{max: 8192}, &s.Signature) }),
	)
	return &s
}

// PanelProblem returns the fault of a panel that an extension registers, and the member at fault, "" for
// none.
func PanelProblem(p Panel) (member, what string) {
	switch {
	case len(p.ID) > 128 || !panelID.MatchString(p.ID):
		return "id", `required lower-case letters and digits, with one ".", "_" or "-" between parts, at most 128 characters`
	case len(p.Title) == 0 || len([]rune(p.Title)) > 80:
		return "title", "required 1 to 80 characters"
	case p.Slot != "tools.page.primary" && p.Slot != "tools.page.secondary" && p.Slot != "tools.page.advanced":
		return "slot", fmt.Sprintf("%.60q, required tools.page.primary, tools.page.secondary or tools.page.advanced", p.Slot)
	}
	return "", ""
}

// ValidID reports whether id can be the id of an extension.
func ValidID(id string) bool { return len(id) >= 3 && len(id) <= 128 && identifier.MatchString(id) }
