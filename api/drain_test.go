package api

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
)

// Keeps out a batch that is too large and comes again for ever: a client that writes its whole body before it reads must
// see the 413, not a connection that was cut under it.
func TestBody_TooLargeIsAnsweredAfterTheWholeBody(t *testing.T) {
	base := serve(t, newStub(), Settings{})
	for _, length := range []int{300 << 10, 8 << 20} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		body := strings.Repeat("x", length)
		if _, err := fmt.Fprintf(conn, "POST /v1/notifications HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", length, body); err != nil {
			t.Errorf("%d bytes: cut while writing: %v", length, err)
		}
		status := make([]byte, len("HTTP/1.1 413"))
		if _, err := conn.Read(status); err != nil || string(status) != "HTTP/1.1 413" {
			t.Errorf("%d bytes: %q, %v, want %d", length, status, err, http.StatusRequestEntityTooLarge)
		}
		_ = conn.Close()
	}
}
