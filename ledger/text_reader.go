package ledger

import (
	"bytes"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// textReader reads JSON text that is in memory. It lets repeated names pass: its users find them cheaper.
type textReader struct {
	jsontext.Decoder
	text bytes.Buffer
}

// textReaders are used again, since one is larger than most texts.
var textReaders = sync.Pool{New: func() any { return new(textReader) }}

// readText starts to read a text; end must follow.
func readText(text []byte) *textReader {
	r := textReaders.Get().(*textReader)
	r.text = *bytes.NewBuffer(text)
	r.Reset(&r.text, jsontext.AllowDuplicateNames(true))
	return r
}

// end lets the text go.
func (r *textReader) end() {
	r.text = bytes.Buffer{}
	r.Reset(&r.text)
	textReaders.Put(r)
}
