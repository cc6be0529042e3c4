package ruby

import (
	"context"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/ruby/report"
	"github.com/bentobuild/bento/diagnostics"
)

// ParseDiagnostics implements adapters.Adapter: it reads the output of RSpec, minitest,
// test-unit and Ruby itself.
func (a *Adapter) ParseDiagnostics(ctx context.Context, req adapters.ParseRequest) ([]diagnostics.Diagnostic, error) {
	return report.Parse(report.Where{Dir: req.DishDir, Root: req.WorkspaceRoot}, req.Stdout, req.Stderr), nil
}
