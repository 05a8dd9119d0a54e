package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"sendonce/fake"
)

// Keeps out a service that holds on to the memory of its last load for hours. A load that has to wait for the
// processors takes more connections, and each keeps pages: so the limit is a share of what the load took.
func TestMemory_IsGivenBackAfterALoad(t *testing.T) {
	if *raceBinary {
		t.Skip("the race detector keeps memory of its own")
	}
	const batches, each = 20, 500
	p := newPlace(t, fake.Options{WellBehaved: true})
	s := p.start()
	for b := range batches {
		bodies := make([]json.RawMessage, each)
		for i := range bodies {
			bodies[i] = smsBody(fmt.Sprint("evt-", b, "-", i), "+14155550101", fmt.Sprint("tok_", b, "_", i))
		}
		if _, status, err := s.api.batch(context.Background(), bodies); err != nil || status != 200 {
			t.Fatalf("batch %d: status %d: %v", b, status, err)
		}
	}
	s.idle()
	loaded, left := s.ownMemory(), 0
	defer func() { t.Logf("%d KiB after %d events, %d KiB once it was quiet", loaded, batches*each, left) }()
	eventually(t, "the memory is given back", func() bool { // two thirds are left, and all of it where nothing is given back
		left = s.ownMemory()
		return left*5 < loaded*4
	})
	s.stop(patience)
	p.check()
}

// ownMemory is what the process has in memory beside its program file, in KiB.
func (s *service) ownMemory() int {
	s.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "RssAnon:")
	size, _, _ := strings.Cut(rest, " kB")
	n, err := strconv.Atoi(strings.TrimSpace(size))
	if err != nil {
		s.t.Fatalf("RssAnon in %s: %v", status, err)
	}
	return n
}
