//go:build linux

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// message reads HTTP/1.1 requests or answers one after the other from a connection. Client and stub share the
// machine with what they measure, so this stands in for net/http: it knows the two ways to give a length, keeps
// one buffer, and understands no other header.
type message struct {
	r     *bufio.Reader
	first []byte // request line or status line
	body  []byte
	last  bool // the sender wants the connection closed after this exchange
}

// maxMessage bounds a body in bytes: a batch of 500 and its answer fit well.
const maxMessage = 4 << 20

var errMessage = errors.New("not an HTTP message")

// next reads one message; first and body are good until the next call. io.EOF when the peer closed in between.
func (m *message) next() error {
	line, err := m.line()
	if err != nil {
		return err
	}
	m.first, m.body, m.last = append(m.first[:0], line...), m.body[:0], false
	length, chunked := 0, false
	for {
		if line, err = m.line(); err != nil {
			return noEOF(err)
		}
		if len(line) == 0 {
			break
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return fmt.Errorf("%w: header %q", errMessage, line)
		}
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("content-length")):
			if length, err = strconv.Atoi(string(value)); err != nil || length < 0 || length > maxMessage {
				return fmt.Errorf("%w: length %q", errMessage, value)
			}
		case bytes.EqualFold(name, []byte("transfer-encoding")):
			chunked = true
		case bytes.EqualFold(name, []byte("connection")):
			m.last = bytes.EqualFold(value, []byte("close"))
		}
	}
	if chunked {
		return noEOF(m.chunks())
	}
	return noEOF(m.fill(length))
}

// nextLine reads an answer that is one line, as Redis gives to a simple command; body is that line.
func (m *message) nextLine() error {
	line, err := m.line()
	m.body, m.last = append(m.body[:0], line...), false
	return err
}

// line returns one line without its end.
func (m *message) line() ([]byte, error) {
	line, err := m.r.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

// fill appends n bytes to the body.
func (m *message) fill(n int) error {
	if len(m.body)+n > maxMessage {
		return fmt.Errorf("%w: longer than %d", errMessage, maxMessage)
	}
	start := len(m.body)
	if cap(m.body) < start+n {
		m.body = append(make([]byte, 0, 2*(start+n)), m.body...)
	}
	m.body = m.body[:start+n]
	_, err := io.ReadFull(m.r, m.body[start:])
	return err
}

// chunks reads a chunked body; trailers are read and dropped.
func (m *message) chunks() error {
	for {
		line, err := m.line()
		if err != nil {
			return err
		}
		digits, _, _ := bytes.Cut(line, []byte(";"))
		n, err := strconv.ParseUint(string(bytes.TrimSpace(digits)), 16, 31)
		if err != nil {
			return fmt.Errorf("%w: chunk %q", errMessage, line)
		}
		if n > 0 {
			if err := m.fill(int(n)); err != nil {
				return err
			}
		}
		for { // the empty line after a chunk, or trailers and the empty line after the last one
			if line, err = m.line(); err != nil {
				return err
			}
			if len(line) == 0 {
				break
			}
		}
		if n == 0 {
			return nil
		}
	}
}

// status returns the status of an answer; 0 when the first line is no status line.
func (m *message) status() int {
	if len(m.first) < 12 || !bytes.HasPrefix(m.first, []byte("HTTP/1.")) {
		return 0
	}
	n, _ := strconv.Atoi(string(m.first[9:12]))
	return n
}

// noEOF turns an end inside a message into an error that says so.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
