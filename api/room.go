package api

import (
	"context"
	"io"
	"math"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	smallBody   = 16 << 10  // bytes that need no room: one on each connection is 16 MiB
	batchWeight = 256 << 10 // bytes that a batch counts for at least: its rows and its answer take many times its body
)

// room bounds what bodies take up in memory while they are read and worked on: without it, batches on all connections at once would
// take more than a gigabyte. Who finds no room waits in line.
type room struct {
	free     *semaphore.Weighted
	size     int64         // bytes
	patience time.Duration // how long a request waits in line
}

func newRoom(l Limits) *room {
	return &room{free: semaphore.NewWeighted(l.Bodies), size: l.Bodies, patience: l.Queue}
}

// share is what one request has of the room.
type share struct {
	room    *room
	request *http.Request
	body    io.ReadCloser // the request's own
	held    int64         // bytes
}

// take takes room for so many bytes, once, or refuses the request when the line does not move. leave gives it back. Nobody takes
// more later on: two that hold a part each would wait for one another.
func (s *share) take(bytes int64) error {
	if s.held > 0 {
		return nil
	}
	bytes = min(bytes, s.room.size) // the largest has all of it for itself
	if !s.room.free.TryAcquire(bytes) {
		ctx, cancel := context.WithTimeout(s.request.Context(), s.room.patience)
		defer cancel()
		if s.room.free.Acquire(ctx, bytes) != nil {
			return refuse(codeOverload)
		}
	}
	s.held = bytes
	return nil
}

// leave gives the request its own body back, too: net/http looks at it to know whether the caller still waits to be asked for it.
func (s *share) leave() {
	s.request.Body = s.body
	s.room.free.Release(s.held)
	s.held = 0
}

// weighed is a body that takes room once more of it has come than needs none. What it announces may never come, and who announces
// nothing mostly has little to say: neither keeps others out.
type weighed struct {
	io.ReadCloser
	share  *share
	small  int64 // bytes that still need no room
	weight int64 // bytes to take
}

// Read implements io.Reader. Where there is no room it says so once, and the rest can be read to be thrown away.
func (b *weighed) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.small -= int64(n)
	if b.small >= 0 {
		return n, err
	}
	b.small = math.MaxInt64
	if refused := b.share.take(b.weight); refused != nil {
		return 0, refused
	}
	return n, err
}

// weigh makes a body of more than smallBody, and of least at least, take room as it comes.
func (m *room) weigh(r *http.Request, limit, least int64) *share {
	s := &share{room: m, request: r, body: r.Body}
	if n := announced(r, limit); n > smallBody {
		r.Body = &weighed{ReadCloser: r.Body, share: s, small: smallBody, weight: max(n, least)}
	}
	return s
}

// announced is how many bytes a body may have.
func announced(r *http.Request, limit int64) int64 {
	if r.ContentLength < 0 {
		return limit
	}
	return min(r.ContentLength, limit)
}
