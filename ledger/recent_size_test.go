package ledger

import (
	"fmt"
	"testing"
)

// Keeps out that rows with long messages, of up to 256 KiB each, fill the memory.
func TestRecent_LargeRowsAreNotKept(t *testing.T) {
	var r recent
	long, kept := make([]byte, 200<<10), 0
	for i := range maxRecent {
		n := Notification{Seq: int64(i + 1), DedupeKey: fmt.Sprint(i), Message: long, Version: 1}
		r.made(n)
		r.moved(n)
		_, epoch, _ := r.find("", n.DedupeKey)
		r.read(n, epoch)
	}
	for _, e := range r.rows {
		kept += len(e.row.Message)
	}
	if kept > 64<<20 {
		t.Errorf("%d MiB are kept", kept>>20)
	}
}
