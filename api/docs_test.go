package api

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"sendonce/ledger"
)

// The page names every route, field and filter, and each limit with its number.
func TestDocs_RoutesFieldsLimits(t *testing.T) {
	b, err := os.ReadFile("../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	var want []string
	path := strings.NewReplacer(":id", "{id}", ":name", "{name}", ":code", "{code}", ":provider", "{provider}", ":reference", "{reference}")
	for _, r := range New(newStub(), Settings{}, quiet()).routes() {
		want = append(want, "| `"+r.method+" "+path.Replace(r.path)+"` |")
	}
	for _, fields := range [][]string{fieldsOf(reflect.TypeFor[Event]()), fieldsOf(reflect.TypeFor[Notification]()), filterNames} {
		for _, name := range fields {
			want = append(want, "`"+name+"`")
		}
	}
	l := Limits{}.withDefaults()
	for _, limit := range []struct {
		line  string
		value int64
	}{
		{"| `event_id` | required | %d code points |", ledger.MaxEventID}, {"| `recipient` | required | %d code points |", ledger.MaxRecipient},
		{"| `event_type` | | %d code points |", ledger.MaxEventType}, {"| `source` | | %d code points |", ledger.MaxSource}, {"| `user_id` | | %d code points |", ledger.MaxUserID},
		{"(%d bytes)", ledger.MaxMetadataBytes}, {"1 to %d of ASCII", ledger.MaxDedupeKey}, {"at most %d code points; `by`", ledger.MaxReason}, {"names the person, at most %d", ledger.MaxPerson},
		{"`message_id` (%d code points)", ledger.MaxMessageID}, {"1 to %d items", ledger.MaxBatch}, {"`limit` 1 to %d", ledger.MaxList}, {"(%d without)", defaultLimit},
		{"the last %d)", ledger.MaxDuplicates}, {"| nesting of JSON | %d |", MaxDepth}, {"| body | %d KiB |", l.Body >> 10}, {"| %d MiB, 500 |", l.Batch >> 20}, {"| receipts, beyond 256 KiB eight at a time | %d MiB |", l.Receipts >> 20},
		{"| request line and headers | %d KiB |", int64(l.HeaderBytes) >> 10}, {"| headers complete | %d s |", int64(l.Header.Seconds())}, {"| body complete | %d s |", int64(l.Read.Seconds())},
		{"| answer written | %d s |", int64(l.Write.Seconds())}, {"between two requests | %d s |", int64(l.Idle.Seconds())}, {"| `Prefer: wait` | %d s |", int64(l.Wait.Seconds())},
		{"a batch as 256 KiB at least | %d MiB |", l.Bodies >> 20}, {"wait in line, after %d s 429", int64(l.Queue.Seconds())}, {"| drain at the stop | %d s |", int64(l.Drain.Seconds())}, {"| `provider` | sends through this one only | %d bytes", ledger.MaxProvider},
	} {
		want = append(want, fmt.Sprintf(limit.line, limit.value))
	}
	want = append(want, "| open connections | 1,024 |", "50,000 rows")
	if l.Connections != 1024 || ledger.MaxScan != 50_000 {
		t.Errorf("connections %d, rows %d", l.Connections, ledger.MaxScan)
	}
	for _, w := range want {
		if !strings.Contains(page, w) {
			t.Errorf("docs/api.md lacks %s", w)
		}
	}
}
