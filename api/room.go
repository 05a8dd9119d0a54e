package api

import (
	"context"
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

// enter takes room for a body, or refuses the request when the line does not move. leave gives it back.
func (m *room) enter(r *http.Request, bytes int64) (leave func(), err error) {
	bytes = min(bytes, m.size) // the largest has all of it for itself
	if !m.free.TryAcquire(bytes) {
		ctx, cancel := context.WithTimeout(r.Context(), m.patience)
		defer cancel()
		if m.free.Acquire(ctx, bytes) != nil {
			drain(r)
			return nil, refuse(codeOverload)
		}
	}
	return func() { m.free.Release(bytes) }, nil
}

// announced is how many bytes a body may have.
func announced(r *http.Request, limit int64) int64 {
	if r.ContentLength < 0 {
		return limit
	}
	return min(r.ContentLength, limit)
}
