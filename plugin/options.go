package plugin

import (
	"context"

	"github.com/bentobuild/bento/plugin/methods"
)

// Settings decodes the options of the user into the value that into points to: those of the dish that a
// method is called for, else of the workspace. ctx is that of the method. Without options it changes
// nothing. An adapter takes options if its manifest has an OptionsSchema. bento checks the options against
// the schema.
func Settings(ctx context.Context, into any) error { return methods.Settings(ctx, into) }
