package adapter

import (
	"encoding/json"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
	"github.com/bentobuild/bento/plugin/wire/shape"
)

// CheckResult tells how the result of a method differs from what bento takes; nil
// when it does not, and for methods without a rule. ReadManifest does the same for
// initialize.
func CheckResult(method string, result json.RawMessage) error {
	switch method {
	case wire.MethodDetect:
		return shape.Decode(result, detectedShape(), new(wire.Detected))
	case wire.MethodToolchain:
		return shape.Decode(result, toolchainShape(), new(*adapters.Toolchain))
	case wire.MethodFingerprint:
		return shape.Decode(result, fingerprintShape(), new(*string))
	case wire.MethodDiagnostics:
		return shape.Decode(result, diagnosedShape(), new(wire.Diagnosed))
	case wire.MethodTasks:
		var a adapters.TasksAnswer
		if err := shape.Decode(result, tasksAnswerShape(), &a); err != nil {
			return err
		}
		return checkTasks("tasks", a.Tasks)
	case wire.MethodLinks:
		var a adapters.LinksAnswer
		if err := shape.Decode(result, linksAnswerShape(), &a); err != nil {
			return err
		}
		return checkLinks(a)
	case wire.MethodInstallScope:
		return shape.Decode(result, scopeShape(), new(adapters.Scope))
	}
	return nil
}
