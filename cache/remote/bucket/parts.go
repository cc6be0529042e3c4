package bucket

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bentobuild/bento/cache/remote/objects"
	"github.com/bentobuild/bento/cache/remote/transport"
)

// Sizes in bytes, and the largest number of parts that S3 takes.
const (
	maxSingle = 64 << 20 // of an object that is sent by one request
	partSize  = 16 << 20
	maxParts  = 10_000
	maxList   = 4 << 20 // of an answer with a list
)

// part is one part of an object, as S3 lists it.
type part struct {
	Number int    `xml:"PartNumber"`
	ETag   string `xml:"ETag"`
	Size   int64  `xml:"Size"`
}

// putParts sends a large object in parts. It continues an upload that was cut off: parts that the server has, with the content
// that they have here, are not sent again. What is left of an upload stays at the server, for the next attempt.
func (s *server) putParts(ctx context.Context, o objects.Object, content objects.Source) error {
	id, have, err := s.unfinished(ctx, o)
	if err != nil {
		return err
	}
	if id == "" {
		if id, err = s.begin(ctx, o); err != nil {
			return err
		}
	}
	parts, err := s.sendParts(ctx, o, content, id, have)
	if err == nil {
		err = s.complete(ctx, o, id, parts)
	}
	var refused *transport.Refusal
	switch {
	case errors.As(err, &refused) && refused.Code == "NoSuchUpload":
		// Another bento has completed it, or it was removed.
		if there, e := s.Has(ctx, o); e == nil && there {
			return nil
		}
	case errors.Is(err, objects.ErrContent):
		_ = s.done(ctx, request{method: http.MethodDelete, name: o.Name, query: url.Values{"uploadId": {id}}})
	}
	return err
}

// sizeOfParts returns the size of the parts of an object of size bytes.
func (s *server) sizeOfParts(size int64) int64 {
	least := (size + maxParts - 1) / maxParts
	return max(s.part, (least+1<<20-1)>>20<<20)
}

// unfinished returns the newest upload of an object that was not completed, with its parts, "" for none. A server that does
// not tell is asked for a new one.
func (s *server) unfinished(ctx context.Context, o objects.Object) (id string, have map[int]part, err error) {
	w, err := s.way()
	if err != nil {
		return "", nil, err
	}
	key := w.prefix + o.Name
	var list struct {
		Uploads []struct {
			Key       string    `xml:"Key"`
			ID        string    `xml:"UploadId"`
			Initiated time.Time `xml:"Initiated"`
		} `xml:"Upload"`
	}
	if err := s.list(ctx, request{method: http.MethodGet, query: url.Values{"uploads": {""}, "prefix": {key}}}, &list); err != nil {
		return "", nil, ctx.Err()
	}
	var newest time.Time
	for _, u := range list.Uploads {
		if u.Key == key && u.ID != "" && !u.Initiated.Before(newest) {
			id, newest = u.ID, u.Initiated
		}
	}
	if id == "" {
		return "", nil, nil
	}
	have = make(map[int]part)
	for marker := 0; len(have) < maxParts; {
		var page struct {
			Parts []part `xml:"Part"`
			More  bool   `xml:"IsTruncated"`
			Next  int    `xml:"NextPartNumberMarker"`
		}
		q := url.Values{"uploadId": {id}, "part-number-marker": {strconv.Itoa(marker)}}
		if err := s.list(ctx, request{method: http.MethodGet, name: o.Name, query: q}, &page); err != nil {
			return "", nil, ctx.Err()
		}
		for _, p := range page.Parts {
			have[p.Number] = p
		}
		if !page.More || page.Next <= marker {
			break
		}
		marker = page.Next
	}
	return id, have, nil
}

// list reads an answer with a list.
func (s *server) list(ctx context.Context, r request, to any) error {
	res, err := s.do(ctx, r, http.StatusOK)
	if err != nil {
		return err
	}
	data, err := transport.Small(res, maxList)
	if err != nil {
		return err
	}
	if err := xml.Unmarshal(data, to); err != nil {
		return fmt.Errorf("%s answers with no XML", res.Request.URL.Host)
	}
	return nil
}

// begin begins an upload.
func (s *server) begin(ctx context.Context, o objects.Object) (string, error) {
	var begun struct {
		ID string `xml:"UploadId"`
	}
	r := request{method: http.MethodPost, name: o.Name, query: url.Values{"uploads": {""}}, header: http.Header{"Content-Type": {"application/octet-stream"}}}
	err := s.list(ctx, r, &begun)
	if err == nil && begun.ID == "" {
		err = errors.New("the server begins an upload without a name")
	}
	return begun.ID, err
}

// sendParts sends the parts of an object that the server lacks, and checks that all of them are the object.
func (s *server) sendParts(ctx context.Context, o objects.Object, content objects.Source, id string, have map[int]part) ([]part, error) {
	file, err := content()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	size := s.sizeOfParts(o.Size)
	whole := sha256.New()
	var parts []part
	for at := int64(0); at < o.Size; at += size {
		length := min(size, o.Size-at)
		sum, check := sha256.New(), md5.New()
		if _, err := io.CopyN(io.MultiWriter(whole, sum, check), file, length); err != nil {
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				err = objects.ErrContent
			}
			return nil, err
		}
		p := part{Number: len(parts) + 1, ETag: `"` + hex.EncodeToString(check.Sum(nil)) + `"`, Size: length}
		if old := have[p.Number]; old.Size != length || strings.Trim(old.ETag, `"`) != strings.Trim(p.ETag, `"`) {
			if at+length == o.Size && [sha256.Size]byte(whole.Sum(nil)) != o.Hash {
				return nil, objects.ErrContent
			}
			if p.ETag, err = s.sendPart(ctx, o, content, id, section{p, at, hex.EncodeToString(sum.Sum(nil))}); err != nil {
				return nil, err
			}
		}
		parts = append(parts, p)
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
	}
	if n, _ := io.ReadFull(file, make([]byte, 1)); n > 0 || [sha256.Size]byte(whole.Sum(nil)) != o.Hash {
		return nil, objects.ErrContent
	}
	return parts, nil
}

// section is a part and where it begins.
type section struct {
	part
	at  int64
	sum string
}

func (s *server) sendPart(ctx context.Context, o objects.Object, content objects.Source, id string, p section) (etag string, err error) {
	res, err := s.do(ctx, request{
		method: http.MethodPut, name: o.Name, query: url.Values{"partNumber": {strconv.Itoa(p.Number)}, "uploadId": {id}},
		size: p.Size, payload: p.sum, header: http.Header{"Expect": {"100-continue"}},
		body: func() (io.ReadCloser, error) {
			file, err := content()
			if err != nil {
				return nil, err
			}
			if _, err := file.Seek(p.at, io.SeekStart); err != nil {
				file.Close()
				return nil, err
			}
			return limited{io.LimitReader(file, p.Size), file}, nil
		},
	}, http.StatusOK)
	if err != nil {
		return "", err
	}
	transport.Discard(res)
	if etag = res.Header.Get("ETag"); etag == "" || len(etag) > 256 {
		return "", fmt.Errorf("%s has taken a part without an ETag", res.Request.URL.Host)
	}
	return etag, nil
}

type limited struct {
	io.Reader
	io.Closer
}

// complete ends an upload. The answer to a success can still be an error.
func (s *server) complete(ctx context.Context, o objects.Object, id string, parts []part) error {
	type named struct {
		Number int    `xml:"PartNumber"`
		ETag   string `xml:"ETag"`
	}
	doc := struct {
		XMLName xml.Name `xml:"CompleteMultipartUpload"`
		Parts   []named  `xml:"Part"`
	}{}
	for _, p := range parts {
		doc.Parts = append(doc.Parts, named{p.Number, p.ETag})
	}
	text, err := xml.Marshal(doc)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	res, err := s.do(ctx, request{
		method: http.MethodPost, name: o.Name, query: url.Values{"uploadId": {id}}, size: int64(len(text)), payload: hex.EncodeToString(sum[:]),
		header: http.Header{"Content-Type": {"application/xml"}},
		body:   func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil },
	}, http.StatusOK)
	if err != nil {
		return err
	}
	data, err := transport.Small(res, maxList)
	if err != nil {
		return err
	}
	if code, message := parseError(bytes.TrimSpace(data)); code != "" {
		r := transport.Refused(res)
		r.Code, r.Text, r.Cause = code, transport.Line(message), errSetUp
		return r
	}
	return nil
}
