package console

import (
	"context"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"
	"time"
)

const (
	maxStreams  = 64               // open at a time: each has a connection
	streamLook  = time.Second      // between two looks
	streamBeat  = 15 * time.Second // between two signs of life, for proxies
	streamEnds  = 10 * time.Minute // then the browser asks again by itself
	streamWrite = 10 * time.Second // a reader that takes longer is gone
)

// markOf is a short name for what a page shows. The page and its stream compute it the same way, so that a change between the
// two is seen.
func markOf(parts ...any) string {
	h := fnv.New64a()
	for _, p := range parts {
		fmt.Fprintf(h, "%v\x00", p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// stream sends an event "change" each time that mark differs from what the page has: ?mark= at first, then the last one sent.
// It ends with the session, the service, or after streamEnds.
func (v *visit) stream(mark func(context.Context) (string, error)) error {
	select {
	case v.c.streams <- struct{}{}:
		defer func() { <-v.c.streams }()
	default:
		return errBusy
	}
	shown := v.r.URL.Query().Get("mark")
	if last := v.r.Header.Get("Last-Event-ID"); last != "" {
		shown = last
	}
	out := http.NewResponseController(v.w)
	_ = out.SetReadDeadline(time.Time{})
	v.w.Header().Set("Content-Type", "text/event-stream")
	v.w.Header().Set("X-Accel-Buffering", "no")
	send := func(text string) bool {
		_ = out.SetWriteDeadline(time.Now().Add(streamWrite))
		_, err := v.w.Write([]byte(text))
		return err == nil && out.Flush() == nil
	}
	if !send("retry: 3000\n\n") {
		return nil
	}
	ctx, cancel := context.WithTimeout(v.r.Context(), streamEnds)
	defer cancel()
	tick := time.NewTicker(streamLook)
	defer tick.Stop()
	beat := time.Now()
	for {
		if _, ok := v.c.identify(v.r, false); !ok {
			return nil
		}
		now, err := mark(ctx)
		switch {
		case err != nil:
			return nil // the page shows why when it is loaded again
		case now != shown:
			shown, beat = now, time.Now()
			if !send("event: change\nid: " + oneLine(now) + "\ndata: " + oneLine(now) + "\n\n") {
				return nil
			}
		case time.Since(beat) >= streamBeat:
			beat = time.Now()
			if !send(": still here\n\n") {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		case <-v.c.stopping:
			return nil
		}
	}
}

// oneLine keeps a mark from being read as more than one line of a stream.
func oneLine(s string) string { return strings.NewReplacer("\r", "", "\n", "").Replace(s) }
