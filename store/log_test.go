package store

import (
	"bytes"
	"log/slog"
	"sync"
	"testing"

	"sendonce/ledger"
)

// Keeps out F39: one line for each write that fails. On a full disk every claim fails, as often as callers ask.
func TestLog_F39_WritesThatFailAreToldNowAndThen(t *testing.T) {
	o := created(t)
	var out bytes.Buffer
	var mu sync.Mutex
	o.Log = slog.New(slog.NewTextHandler(writerFunc(func(b []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return out.Write(b)
	}), nil))
	s := opened(t, o)
	together(16, 1000, func(i int) {
		c := claimOf(i)
		c.Channel = "fax" // the schema refuses it
		_, err := s.Claim([]ledger.Claim{c})
		if err == nil {
			t.Error("claimed")
		}
	})
	mu.Lock()
	defer mu.Unlock()
	if n := bytes.Count(out.Bytes(), []byte("\n")); n < 1 || n > 50 {
		t.Errorf("%d lines for a thousand writes that failed", n)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
