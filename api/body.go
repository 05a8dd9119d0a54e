package api

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"sendonce/ledger"
)

// readInto reads the body strictly into a request type.
func (a *API) readInto(rq *request, into any) error {
	return a.withBody(rq, a.limits.Body, func(body []byte) error { return decode(body, into) })
}

// withBody hands the body to use, which must keep no part of it: the memory is used again.
func (a *API) withBody(rq *request, limit int64, use func(body []byte) error) error {
	if announced(rq.Request(), limit) > smallBody {
		defer a.room.weigh(rq.Request(), limit, 0).leave()
	}
	return a.jsonBody(rq, limit, use)
}

// jsonBody is withBody for who looks after the room.
func (a *API) jsonBody(rq *request, limit int64, use func(body []byte) error) error {
	if !announcedAsJSON(rq.Request().Header) {
		return refuse(codeMediaType)
	}
	return a.wholeBody(rq, limit, func(body []byte) error {
		if len(body) == 0 {
			return ledger.Invalid(wholeBody, "must be a JSON object; it is empty")
		}
		return use(body)
	})
}

// wholeBody is jsonBody for a body of any type, which may be empty too.
func (a *API) wholeBody(rq *request, limit int64, use func(body []byte) error) error {
	r := rq.Request()
	if r.ContentLength > limit {
		if r.Header.Get("Expect") == "" { // a caller that asks first has sent nothing
			drain(r)
		}
		return refuse(codeTooLarge)
	}
	kept, _ := a.bodies.Get().(*[]byte)
	if kept == nil {
		kept = new([]byte)
	}
	in := io.Reader(r.Body) // net/http gives no more than was announced
	if r.ContentLength < 0 {
		in = http.MaxBytesReader(rq.Response().Writer, r.Body, limit)
	}
	body, err := appendAll((*kept)[:0], in)
	if *kept = body; cap(body) <= int(a.limits.Body) {
		defer a.bodies.Put(kept)
	}
	if err != nil {
		return unread(r, err)
	}
	return use(body)
}

// unread answers for a body that could not be read to its end.
func unread(r *http.Request, err error) error {
	var tooLarge *http.MaxBytesError
	var refused *refusal
	switch {
	case errors.As(err, &tooLarge):
		refused = refuse(codeTooLarge)
	case !errors.As(err, &refused):
		// The caller left or was too slow: a cut connection tells it to repeat, a 4xx would tell it to give up.
		panic(http.ErrAbortHandler)
	}
	drain(r)
	return refused
}

// maxDrained is how much of a body that is too large is read all the same.
const maxDrained = 16 << 20

// drain reads what a caller is still sending, since many clients read the answer only then; cut off before, they would not
// see the 413 and send the same body for ever.
func drain(r *http.Request) {
	_, _ = io.CopyN(io.Discard, r.Body, maxDrained) // whatever ends it, the answer is the same
}

// appendAll reads r to its end behind b.
func appendAll(b []byte, r io.Reader) ([]byte, error) {
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

// announcedAsJSON reports whether the headers say JSON in UTF-8, once, and without a further encoding.
func announcedAsJSON(h http.Header) bool {
	if len(h["Content-Encoding"]) > 0 || len(h["Content-Type"]) != 1 {
		return false
	}
	value := h["Content-Type"][0]
	if value == "application/json" {
		return true
	}
	media, params, err := mime.ParseMediaType(value)
	if err != nil || media != "application/json" {
		return false
	}
	charset, given := params["charset"]
	return len(params) == 0 || len(params) == 1 && given && strings.EqualFold(charset, "utf-8")
}
