package providers

import (
	"bufio"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"os"
	"time"

	"golang.org/x/net/http/httpguts"
)

// inOneGo is the largest body, in bytes, that is written before an answer is read: it fits into what a connection holds by itself.
// A server may answer before it has read a larger one, and wait until somebody reads that.
const inOneGo = 16 << 10

// link is one connection. One request has it at a time.
type link struct {
	net.Conn
	raw     net.Conn // under TLS, or the same
	records *records // between the two, under TLS
	to      origin
	in      *bufio.Reader
	out     *bufio.Writer
	rested  time.Time // since when no request has it

	room  int  // bytes of an answer's header that are still read, 1xx answers before it included
	body  bool // what is read is no header
	begun bool // bytes of an answer came
	wrote bool // bytes of a request may have left
}

var errLongHeader = errors.New("the header of the answer is too long")

// errBadHeader is a header that holds a control character: it could be read as the end of a line.
const errBadHeader = plainText("bad header")

// Read implements io.Reader within the bound of a header.
func (l *link) Read(p []byte) (int, error) {
	if l.body {
		return l.Conn.Read(p)
	}
	if l.room <= 0 {
		return 0, errLongHeader
	}
	n, err := l.Conn.Read(p[:min(len(p), l.room)])
	l.room -= n
	l.begun = l.begun || n > 0
	return n, err
}

// Write implements io.Writer. Whatever becomes of it, nobody can say that nothing left.
func (l *link) Write(p []byte) (int, error) {
	l.wrote = true
	return l.Conn.Write(p)
}

// send writes a request.
func (l *link) send(req *http.Request) error {
	if err := req.Write(l.out); err != nil {
		return err
	}
	return l.out.Flush()
}

// sendBeside writes a request while its answer may be read already. sent ends what is left of the writing, and reports whether
// all had left.
func (l *link) sendBeside(req *http.Request) (sent func() bool) {
	written := make(chan error, 1)
	go func() { written <- l.send(req) }()
	return func() bool {
		select {
		case err := <-written:
			return err == nil
		default:
		}
		_ = l.raw.Close()
		<-written
		return false
	}
}

// quiet reports whether nothing came beyond the answers that were read, not even the end. Under TLS that is looked for in three places.
func (l *link) quiet() bool {
	if l.in.Buffered() > 0 || !untouched(l.raw) {
		return false
	}
	if l.records == nil {
		return true
	}
	if l.SetReadDeadline(time.Unix(1, 0)) != nil { // so that nothing is waited for
		return false
	}
	_, err := l.Conn.Read(make([]byte, 1))
	return errors.Is(err, os.ErrDeadlineExceeded) && l.records.none() && l.SetReadDeadline(time.Time{}) == nil
}

// records gives TLS one record at a time. By itself TLS takes whatever has come, and nobody could tell that a second answer came
// with the first.
type records struct {
	net.Conn
	in   *bufio.Reader
	left int // bytes of the record under way
}

// Read implements io.Reader. The first five bytes of a record end in its length (RFC 8446, 5.1).
func (r *records) Read(p []byte) (int, error) {
	if r.left == 0 {
		head, err := r.in.Peek(5)
		if err != nil {
			return 0, err
		}
		r.left = len(head) + int(binary.BigEndian.Uint16(head[3:]))
	}
	n, err := r.in.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}

// none reports whether all that was read is in the hands of TLS, in whole records.
func (r *records) none() bool { return r.left == 0 && r.in.Buffered() == 0 }

// end closes the connection. In peace TLS says good-bye, which takes a peer that reads.
func (l *link) end(inPeace bool) {
	if inPeace {
		_ = l.Close()
	}
	_ = l.raw.Close()
}

// answer reads the header of an answer. Those that only announce it (1xx) are skipped, within the bound of one.
func (l *link) answer(req *http.Request) (*http.Response, error) {
	for {
		resp, err := http.ReadResponse(l.in, req)
		if err != nil || resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols || resp.StatusCode < 100 {
			l.body = true
			return resp, err
		}
	}
}

// validHeader reports whether a header may leave.
func validHeader(h http.Header) bool {
	for name, values := range h {
		if !httpguts.ValidHeaderFieldName(name) {
			return false
		}
		for _, v := range values {
			if !httpguts.ValidHeaderFieldValue(v) {
				return false
			}
		}
	}
	return true
}
