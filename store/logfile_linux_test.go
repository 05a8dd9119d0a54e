package store

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"sendonce/ledger"
)

// writeCalls is how many times this process asked the system to write.
func writeCalls(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`syscw: (\d+)`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("no count of writes in %s", text)
	}
	n, err := strconv.Atoi(string(found[1]))
	must(err)
	return n
}

// A commit hands its pages to the system some dozens at a time, and its callers are answered when all of them are in the log.
func TestLog_ACommitWritesItsPagesTogether(t *testing.T) {
	o := created(t)
	s := opened(t, o)
	claims := make([]ledger.Claim, ledger.MaxBatch)
	for i := range claims {
		claims[i] = claimOf(i)
	}
	before, size := writeCalls(t), logBytes(t, o)
	claimed(t, s, claims...)
	calls, pages := writeCalls(t)-before, int(logBytes(t, o)-size)/4096
	if pages < 50 || calls > pages/4 {
		t.Errorf("%d writes for %d pages", calls, pages)
	}
	killed := options(t)
	copyLedger(t, o, killed, "", "-wal", ".lock")
	copied := opened(t, killed)
	for i := range claims {
		priorOf(t, copied, claims[i])
	}
}

// What is too large to be gathered, and what comes while something is gathered, stands in the log in its order.
func TestLog_LargeMessagesAreWhole(t *testing.T) {
	o := created(t)
	s := opened(t, o)
	claims := make([]ledger.Claim, 5)
	for i := range claims {
		claims[i] = claimOf(i)
		claims[i].Message = []byte(`"` + string(make([]byte, (i+1)*gatherBytes/2)) + `"`)
	}
	claimed(t, s, claims...)
	killed := options(t)
	copyLedger(t, o, killed, "", "-wal", ".lock")
	copied := opened(t, killed)
	for i := range claims {
		if n := priorOf(t, copied, claims[i]); string(n.Message) != string(claims[i].Message) {
			t.Errorf("message %d has %d bytes, not %d", i, len(n.Message), len(claims[i].Message))
		}
	}
}
