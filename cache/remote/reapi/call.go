package reapi

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bentobuild/bento/cache/remote/transport"
)

const execution = "build.bazel.remote.execution.v2."

// The methods that a cache needs.
const (
	getCapabilities = execution + "Capabilities/GetCapabilities"
	getResult       = execution + "ActionCache/GetActionResult"
	putResult       = execution + "ActionCache/UpdateActionResult"
	findMissing     = execution + "ContentAddressableStorage/FindMissingBlobs"
	batchRead       = execution + "ContentAddressableStorage/BatchReadBlobs"
	batchUpdate     = execution + "ContentAddressableStorage/BatchUpdateBlobs"
	readBlob        = "google.bytestream.ByteStream/Read"
	writeBlob       = "google.bytestream.ByteStream/Write"
	queryWrite      = "google.bytestream.ByteStream/QueryWriteStatus"
)

const (
	framePrefix = 5              // bytes: whether the message is compressed, and its size
	maxMessage  = 4<<20 + 64<<10 // bytes of a message: gRPC's bound, and what a server may add to a blob of that size
)

// newFrame returns the prefix of a message of about size bytes, which is appended to it.
func newFrame(size int) []byte { return make([]byte, framePrefix, framePrefix+size) }

// seal sets the size of the message that was appended to a prefix.
func seal(frame []byte) []byte {
	binary.BigEndian.PutUint32(frame[1:framePrefix], uint32(len(frame)-framePrefix))
	return frame
}

// call calls a method that has one message each way, and returns that of the server. frame is the other, appended to
// newFrame.
func (c *Client) call(ctx context.Context, method string, frame []byte) (reply []byte, err error) {
	seal(frame)
	err = c.again(ctx, func() error {
		a, err := c.open(ctx, method, func() io.Reader { return bytes.NewReader(frame) })
		if err != nil {
			return err
		}
		defer a.close()
		reply, err = a.only()
		return err
	})
	return reply, err
}

// again makes calls, and makes them once more if authorized does, or if the connection breaks. All calls may be
// repeated.
func (c *Client) again(ctx context.Context, do func() error) error {
	err := c.authorized(do)
	if isCut(err) && ctx.Err() == nil {
		return c.authorized(do)
	}
	return err
}

// authorized makes calls, and makes them once more if the server refuses the credentials and a credential helper can
// be asked for others.
func (c *Client) authorized(do func() error) error {
	err := do()
	if f, refused := errors.AsType[*Failure](err); refused && f.Code == Unauthenticated && c.http.Forget() {
		return do()
	}
	return err
}

// open calls a method and returns the answer, which the caller closes. source returns the frames of the question, from
// the first, and may be called several times. A source that is an io.Closer is closed when it is read no more.
func (c *Client) open(ctx context.Context, method string, source func() io.Reader) (*answer, error) {
	ctx, w := c.watched(ctx)
	after, pause := c.first, c.idle
	switch method {
	case writeBlob, batchUpdate, putResult: // it stores something
		after = c.idle
	case executeAction, waitExecution: // a command may run for hours without a word
		after, pause = c.quiet, c.quiet
	}
	body := func() (io.ReadCloser, error) {
		return &question{source: source(), watch: w, idle: c.idle, after: after}, nil
	}
	first, _ := body()
	req := (&http.Request{
		Method: http.MethodPost, URL: &url.URL{Scheme: c.scheme, Host: c.host, Path: "/" + method}, Host: c.host,
		Proto: "HTTP/2.0", ProtoMajor: 2, Body: first,
		Header: http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}},
	}).WithContext(ctx)
	if method != writeBlob {
		req.GetBody = body
	}
	res, err := c.http.Do(req)
	w.pause()
	if err != nil {
		defer w.stop()
		return nil, c.broken(method, w, err)
	}
	a := &answer{client: c, method: method, res: res, watch: w, pause: pause}
	if err := a.accept(); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// answer is what a server answers to a call: messages, then a status.
type answer struct {
	client *Client
	method string
	res    *http.Response // its trailer is complete after the body
	watch  *watch
	pause  time.Duration // the longest one
	prefix [framePrefix]byte
	buffer bytes.Buffer
}

// accept checks that an answer is one of gRPC, and has no failure in place of messages.
func (a *answer) accept() error {
	c, h := a.client, a.res.Header
	if a.res.StatusCode != http.StatusOK {
		return a.refusal()
	}
	if kind := h.Get("Content-Type"); kind != "application/grpc" && !strings.HasPrefix(kind, "application/grpc+") && !strings.HasPrefix(kind, "application/grpc;") {
		return c.fault(a.method, fmt.Errorf("an answer of the type %.80q, which is not gRPC's; check that this is the address of a server of the Remote Execution API v2", kind))
	}
	if h.Get("Grpc-Status") == "" {
		return nil
	}
	switch s, err := statusOf(h); {
	case err != nil:
		return c.fault(a.method, err)
	case s.code != OK:
		return c.failure(a.method, s)
	}
	return nil
}

// refusal returns the error of a status of HTTP, which something between here and the server has sent.
func (a *answer) refusal() error {
	c, text := a.client, "HTTP status "+a.res.Status
	switch a.res.StatusCode {
	case http.StatusUnauthorized:
		return c.failure(a.method, status{code: Unauthenticated, text: text})
	case http.StatusForbidden:
		return c.failure(a.method, status{code: PermissionDenied, text: text})
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return c.fault(a.method, transport.Expect(a.res)) // which knows how long to leave the server alone
	}
	return c.failure(a.method, status{code: Unimplemented, text: text})
}

// statusOf reads the status of a call from a header or a trailer.
func statusOf(h http.Header) (status, error) {
	text := h.Get("Grpc-Status")
	if text == "" {
		return status{}, errors.New("the answer ends without a status")
	}
	code, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return status{}, fmt.Errorf("the answer ends with the status %.20q", text)
	}
	return status{code: Code(code), text: message(h.Get("Grpc-Message"))}, nil
}

// next returns the next message, which is valid until the next call, or io.EOF if the call has succeeded. A message is
// kept as it comes, whatever size was announced.
func (a *answer) next() ([]byte, error) {
	switch _, err := io.ReadFull(a, a.prefix[:]); {
	case err == io.EOF:
		return nil, a.ended()
	case err != nil:
		return nil, a.client.broken(a.method, a.watch, err)
	}
	size := int64(binary.BigEndian.Uint32(a.prefix[1:]))
	switch {
	case a.prefix[0] != 0:
		return nil, a.client.fault(a.method, errors.New("a message is compressed, which was not asked for"))
	case size > maxMessage:
		return nil, a.client.fault(a.method, fmt.Errorf("a message of %d bytes, expected at most %d", size, int64(maxMessage)))
	}
	a.buffer.Reset()
	switch n, err := io.CopyN(&a.buffer, a, size); {
	case err == io.EOF:
		return nil, a.client.broken(a.method, a.watch, fmt.Errorf("a message ends after %d of %d bytes", n, size))
	case err != nil:
		return nil, a.client.broken(a.method, a.watch, err)
	}
	return a.buffer.Bytes(), nil
}

// Read reads from the body, and waits no longer than a server may pause.
func (a *answer) Read(p []byte) (int, error) {
	a.watch.expect(a.pause)
	defer a.watch.pause()
	return a.res.Body.Read(p)
}

// ended returns io.EOF if the status of the call is OK.
func (a *answer) ended() error {
	end := a.res.Trailer
	if end.Get("Grpc-Status") == "" && a.res.Header.Get("Grpc-Status") != "" {
		end = a.res.Header // of an answer without messages
	}
	switch s, err := statusOf(end); {
	case err != nil:
		return a.client.broken(a.method, a.watch, err)
	case s.code != OK:
		return a.client.failure(a.method, s)
	}
	return io.EOF
}

// only returns the one message of an answer.
func (a *answer) only() ([]byte, error) {
	if _, err := a.next(); err == io.EOF {
		return nil, a.client.fault(a.method, errors.New("an answer without a message"))
	} else if err != nil {
		return nil, err
	}
	reply := a.buffer.Bytes()
	a.buffer = bytes.Buffer{}
	switch _, err := a.next(); err {
	case io.EOF:
		return reply, nil
	case nil:
		return nil, a.client.fault(a.method, errors.New("an answer of more than one message"))
	default:
		return nil, err
	}
}

func (a *answer) close() {
	a.watch.stop()
	a.res.Body.Close()
}

// fault returns an error of the server or of the way to it.
func (c *Client) fault(method string, err error) error {
	_, name, _ := strings.Cut(method, "/")
	return fmt.Errorf("%s: %s: %w", c.name, name, err)
}

// cut is the error of a connection that broke before the end of an answer.
type cut struct{ error }

func (c cut) Unwrap() error { return c.error }

func isCut(err error) bool {
	_, ok := errors.AsType[cut](err)
	return ok
}

// broken returns the error of a call whose answer is not complete. It is a cut unless it took time to find out.
func (c *Client) broken(method string, w *watch, err error) error {
	if silent := w.silence(); silent != nil {
		c.http.EndSilent(c.idle)
		return c.fault(method, silent)
	}
	if of := errors.Unwrap(err); of != nil && strings.HasPrefix(err.Error(), c.host+": ") {
		err = of // the name of the server says it
	}
	timed, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	advice := adviceFor(err)
	switch {
	case advice != "":
		return c.fault(method, fmt.Errorf("%w; %s", err, advice))
	case ok && timed.Timeout():
		return c.fault(method, err)
	}
	return cut{c.fault(method, err)}
}

// adviceFor returns what to do about an error of a connection that another one would have, too; "" for other errors.
func adviceFor(err error) string {
	text := err.Error()
	contains := func(part string) bool { return strings.Contains(text, part) }
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case unknown:
		return "name the certificates of its authority"
	case plain || contains("first record does not look like a TLS handshake"):
		return "the server has no TLS at this port"
	case contains("looked like an HTTP/1.1 header") || contains("no application protocol") || contains("unexpected ALPN protocol"):
		return "check the port: the server does not speak gRPC at this one"
	}
	return ""
}
