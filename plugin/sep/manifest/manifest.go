// Package manifest reads the manifest of a SEP v1 extension: manifest.json, or <name>.sep.json.
//
// Parse checks the rules of the published JSON Schema of the contract, with own code, so that each fault
// has its place in the file. Conflicts and Refusals check rules that no schema can state.
package manifest

import "github.com/bentobuild/bento/internal/jsonfile"

// Manifest is a valid manifest. The tags are the names of the file.
type Manifest struct {
	SchemaVersion string `json:"schemaVersion"`
	ID            string `json:"id"`
	Name          string `json:"name"`
	Description   string `json:"description,omitempty"`
	Version       string `json:"version"`
	APIVersion    string `json:"apiVersion"`
	// TrustLevel is FirstParty, TrustedThirdParty or UntrustedLocal.
	TrustLevel string `json:"trustLevel"`
	// Profile is "desktop", "android" or "" for none.
	Profile       string         `json:"platformProfile,omitempty"`
	Entrypoint    Entrypoint     `json:"entrypoint"`
	Permissions   []string       `json:"permissions"`
	Events        *Events        `json:"events,omitempty"`
	Health        Health         `json:"health"`
	Limits        Limits         `json:"limits"`
	UI            *UI            `json:"ui,omitempty"`
	Compatibility *Compatibility `json:"compatibility,omitempty"`
	Android       *Android       `json:"android,omitempty"`
	Signing       *Signing       `json:"signing,omitempty"`

	path string
	root *jsonfile.Value
}

// The trust levels. None of them implies a permission.
const (
	FirstParty        = "first_party"
	TrustedThirdParty = "trusted_third_party"
	UntrustedLocal    = "untrusted_local"
)

// The permissions.
const (
	MessagesRead  = "messages.read"
	MessagesSend  = "messages.send"
	ContactsRead  = "contacts.read"
	Subscribe     = "events.subscribe"
	RegisterTools = "tools.register"
	Notify        = "notifications.create"
)

// Permissions returns all permissions, in the order of the contract.
func Permissions() []string {
	return []string{MessagesRead, MessagesSend, ContactsRead, Subscribe, RegisterTools, Notify}
}

// Entrypoint is the program of an extension.
type Entrypoint struct {
	Command          string            `json:"command"`
	Args             []string          `json:"args"`
	WorkingDirectory string            `json:"workingDirectory,omitempty"`
	Environment      map[string]string `json:"environment,omitempty"`
}

// Events are the events that an extension asks for.
type Events struct {
	Subscribe []string `json:"subscribe,omitempty"`
}

// Health is how bento watches a process.
type Health struct {
	StartupTimeoutMs    int `json:"startupTimeoutMs"`
	HeartbeatIntervalMs int `json:"heartbeatIntervalMs"`
	MissedHeartbeats    int `json:"unhealthyAfterMissedHeartbeats"`
}

// Limits are the limits of the extension's requests.
type Limits struct {
	MaxRequestBytes       int `json:"maxRequestBytes"`
	MaxRequestsPerSecond  int `json:"maxRequestsPerSecond"`
	MaxConcurrentRequests int `json:"maxConcurrentRequests"`
}

// UI is the declared metadata for places that the host draws.
type UI struct {
	ToolPanels []Panel `json:"toolPanels,omitempty"`
}

// Panel is a tool panel. Action is set by a registration only: no manifest has one.
type Panel struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Slot   string `json:"slot"`
	Action string `json:"action,omitempty"`
}

// Compatibility is where an extension runs. Host is a range of versions of MeshChatX, which bento
// does not judge.
type Compatibility struct {
	Host      string   `json:"meshchatx,omitempty"`
	Platforms []string `json:"platforms,omitempty"`
}

// Android is the profile of a host on Android.
type Android struct {
	RuntimeMode      string `json:"runtimeMode"`
	Background       bool   `json:"allowBackgroundExecution"`
	MaxStartupTimeMs int    `json:"maxStartupTimeMs,omitempty"`
	MaxMemoryMb      int    `json:"maxMemoryMb,omitempty"`
}

// Signing is the signature of a manifest.
type Signing struct {
	Required  bool   `json:"required"`
	KeyID     string `json:"keyId"`
	Signature string `json:"signature"`
}

// Subscribed returns the events that the manifest asks for.
func (m *Manifest) Subscribed() []string {
	if m.Events == nil {
		return nil
	}
	return m.Events.Subscribe
}

// Panels returns the declared tool panels.
func (m *Manifest) Panels() []Panel {
	if m.UI == nil {
		return nil
	}
	return m.UI.ToolPanels
}

// Path returns the name of the file that Parse was called with.
func (m *Manifest) Path() string { return m.path }
