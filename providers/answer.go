package providers

import (
	"bytes"
	"encoding/json"
	"errors"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sendonce/ledger"
)

var errLost = errors.New("the body was not read to its end")

// answerOptions forgive what readers of JSON differ in, but no name that stands twice, also in other letters: one reader takes
// the first value and the next the last, and one may be a yes and the other a no.
var answerOptions = jsonv2.JoinOptions(jsontext.AllowInvalidUTF8(true), jsonv2.MatchCaseInsensitiveNames(true))

// read reads a whole body. Fields that are evidence for or against an acceptance are raw, so that an odd type of one does not
// hide the other.
func (x *exchange) read(to any) error {
	if !x.whole {
		return errLost
	}
	return x.readPart(x.body, to)
}

// readAnswer is read for a type whose zero value says nothing: that is what comes where the body cannot be read.
func readAnswer[T any](x *exchange) (a T) {
	if x.read(&a) != nil {
		return *new(T)
	}
	return a
}

// readPart reads a part of the body.
func (x *exchange) readPart(part []byte, to any) error {
	err := jsonv2.Unmarshal(part, to, answerOptions)
	x.twice = x.twice || errors.Is(err, jsontext.ErrDuplicateName)
	return err
}

// accepted says what an answer means under the status that is a yes. A body that is lost leaves the yes to the status; a whole
// one has to carry the provider's id of the message, and no error: anybody on the way can answer with a 200.
func (x *exchange) accepted(id json.RawMessage, code string, against ...json.RawMessage) ledger.Result {
	r := x.unlisted()
	name, no := messageID(textOf(id)), anyGiven(against...)
	switch {
	case !x.whole && !no:
		return accepted(r)
	case x.whole && !no && name != "":
		return accepted(r, name)
	case x.whole && !no && name == "":
		r.Reason = ledger.ReasonUnreadableAnswer
	}
	r.Code = code
	return r
}

// contradicts says what a refusing status means beside the provider's own id of a message: yes and no in one answer.
func (x *exchange) contradicts(code string) ledger.Result {
	r := x.unlisted()
	r.Code = code
	return r
}

// anyGiven reports whether one of the values is there, and neither null nor an empty text.
func anyGiven(values ...json.RawMessage) bool {
	for _, v := range values {
		if given(v) && string(v) != `""` {
			return true
		}
	}
	return false
}

// textOf is the text that a JSON value is; "": it is none.
func textOf(v json.RawMessage) string {
	var s string
	if readJSON(v, &s) != nil {
		return ""
	}
	return s
}

// empty reports whether a whole body has nothing in it.
func (x *exchange) empty() bool { return x.whole && len(bytes.TrimSpace(x.body)) == 0 }
