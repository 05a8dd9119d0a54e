//go:build linux

package main

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"time"
)

// knownEvents is how many events mode repeats claims again and again.
const knownEvents = 2000

// events words the requests of one measurement. No two measurements, and no two events of one, share an event id
// or a text: neither a key nor a near duplicate is ever found where none is meant.
type events struct {
	run    string // random: part of every event id
	sendAt string // RFC 3339; empty: now
	addr   string
}

func newEvents(addr string, m mode) events {
	e := events{run: strconv.FormatUint(rand.Uint64(), 36), addr: addr}
	if m == claims || m == batch {
		e.sendAt = time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339)
	}
	return e
}

// service appends request n of the given mode to sendonce.
func (e events) service(b []byte, m mode, n int64) []byte {
	var buf [512]byte
	switch m {
	case batch:
		body := append(make([]byte, 0, batchSize*400), `{"notifications":[`...)
		for i := range int64(batchSize) {
			if i > 0 {
				body = append(body, ',')
			}
			body = e.event(body, n*batchSize+i)
		}
		return e.post(b, "/v1/notifications/batch", "", append(body, "]}"...))
	case sends:
		return e.post(b, "/v1/notifications", "Prefer: wait=30\r\n", e.event(buf[:0], n))
	case repeats:
		n %= knownEvents
	}
	return e.post(b, "/v1/notifications", "", e.event(buf[:0], n))
}

// event appends the body that sendonce takes.
func (e events) event(b []byte, n int64) []byte {
	b = e.id(b, n)
	b = append(b, `,"event_type":"order.shipped","channel":"sms"`...)
	b = recipient(b, n)
	b = append(b, `,"message":{`...)
	b = append(text(b, n), '}')
	if e.sendAt != "" {
		b = append(append(append(b, `,"send_at":"`...), e.sendAt...), '"')
	}
	return append(b, '}')
}

// worker appends request n to the Node worker: the same event in its own words.
func (e events) worker(b []byte, m mode, n int64) []byte {
	if m == repeats {
		n %= knownEvents
	}
	var buf [512]byte
	body := e.id(buf[:0], n)
	body = append(body, `,"channel":"sms"`...)
	body = append(recipient(body, n), ',')
	return e.post(b, "/", "", append(text(body, n), '}'))
}

func (e events) id(b []byte, n int64) []byte {
	b = append(append(b, `{"event_id":"evt_`...), e.run...)
	return append(strconv.AppendInt(append(b, '_'), n, 10), '"')
}

// recipient appends one of ten thousand numbers.
func recipient(b []byte, n int64) []byte {
	b = append(b, `,"recipient":"+1415555`...)
	return append(append(b, strconv.Itoa(int(10000 + n%10000))[1:]...), '"')
}

func text(b []byte, n int64) []byte {
	b = strconv.AppendInt(append(b, `"text":"Order A-`...), n, 10)
	b = strconv.AppendInt(append(b, ` shipped. Track it at https://example.test/t/A-`...), n, 10)
	return append(b, ` and reply STOP to end these messages."`...)
}

// post appends a whole request.
func (e events) post(b []byte, path, header string, body []byte) []byte {
	b = append(append(append(b, "POST "...), path...), " HTTP/1.1\r\nHost: "...)
	b = append(append(append(b, e.addr...), "\r\nContent-Type: application/json\r\n"...), header...)
	b = strconv.AppendInt(append(b, "Content-Length: "...), int64(len(body)), 10)
	return append(append(b, "\r\n\r\n"...), body...)
}

// good says whether an answer of the system is what the mode asks for. A send counts only if it is recorded, a
// repeat only if it was found, a batch only if all of it is new.
func good(system string, m mode, status int, body []byte) bool {
	if status/100 != 2 {
		return false
	}
	if system == echoHTTP || system == bareHTTP {
		return bytes.Contains(body, []byte(`"event_id":"evt_`))
	}
	wanted := map[mode]string{sends: `"state":"sent"`, repeats: `"duplicate":true`, batch: `"claimed":500,`}[m]
	switch {
	case wanted == "":
		wanted = `"duplicate":false`
	case system == worker && m == repeats:
		wanted = `"skipped":true`
	}
	return bytes.Contains(body, []byte(wanted))
}
