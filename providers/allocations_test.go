package providers

import (
	"net/http"
	"testing"

	"sendonce/ledger"
)

// What an attempt costs in memory outside of net/http: building the request and reading the answer. Whoever needs more raises the
// number here, and says why.
func TestAllocations_Attempt(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates too; make test runs this without it")
	}
	k := kits[0]
	p, order := k.make(t, Common{}), k.order("")
	got := testing.AllocsPerRun(500, func() {
		if _, err := p.Build(order); err != nil {
			t.Fatal(err)
		}
	})
	if got > 9 {
		t.Errorf("%.0f allocations to build a request, want at most 9", got)
	}
	x := exchange{phase: ledger.Answered, status: 200, body: []byte(k.yes.body), whole: true, header: http.Header{}, secrets: [][]byte{[]byte(testKey)}}
	got = testing.AllocsPerRun(500, func() {
		if r := k.read(&x); r.Outcome != ledger.Accepted {
			t.Fatal(r)
		}
	})
	if got > 6 {
		t.Errorf("%.0f allocations to read an answer, want at most 6", got)
	}
}
