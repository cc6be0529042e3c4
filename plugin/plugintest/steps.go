package plugintest

import (
	"context"
	"fmt"

	"github.com/bentobuild/bento/plugin/wire"
)

// The steps that several contracts have.

// asks returns the step of a request that is answered, by an error or not.
func asks(method string, params any) step {
	return func(ctx context.Context, t *talk) outcome {
		_, err := t.ask(ctx, method, params)
		return without(err)
	}
}

// refuses returns the step of a request that is answered with an error of this code.
func refuses(method string, params any, code int) step {
	return func(ctx context.Context, t *talk) outcome {
		m, err := t.ask(ctx, method, params)
		switch {
		case err != nil:
			return without(err)
		case m.Error == nil:
			return fail("the result %.60s", m.Result)
		}
		return when(m.Error.Code == code, "%v", m.Error)
	}
}

// notes returns the step of a notification.
func notes(method string, params any) step {
	return func(ctx context.Context, t *talk) outcome { return without(t.notify(ctx, method, params)) }
}

// sends returns the step of a message with this body.
func sends(body string) step {
	return func(_ context.Context, t *talk) outcome { return without(t.send([]byte(body))) }
}

// closesInput closes the stream to the process.
func closesInput(_ context.Context, t *talk) outcome {
	t.stream.Stdin.Close()
	return pass()
}

// terminates asks the process to end, by a signal.
func terminates(_ context.Context, t *talk) outcome {
	t.stream.End(false)
	return pass()
}

// exits returns the step in which the process ends by itself, in time.
func exits(after string) step {
	return func(_ context.Context, t *talk) outcome {
		return when(t.exits(t.Exit), "it still runs %v after %s", t.Exit, after)
	}
}

// exitsWith0 checks the status of a process that has ended.
func exitsWith0(_ context.Context, t *talk) outcome {
	return when(t.status() == "exit status 0", "%s", t.status())
}

// described returns a step whose fault has a description of what was done.
func described(s step, format string, args ...any) step {
	return func(ctx context.Context, t *talk) outcome {
		o := s(ctx, t)
		if o.status == Fail {
			o.got += wire.Plain(fmt.Sprintf(format, args...))
		}
		return o
	}
}
