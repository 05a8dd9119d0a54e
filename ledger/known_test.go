package ledger_test

import (
	"context"
	"reflect"
	"testing"

	"sendonce/ledger"
)

// A repeat in the same words is answered as Claim answers it, and counted; before it was repeated once, in other words, or once its
// row has left memory, nobody claims to know it.
func TestKnown_SaysWhatClaimSays(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		e := event("e1")
		e.Hash = ledger.EventHash{1}
		if _, err := r.ledger.Claim(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		if _, ok := r.ledger.Known(e.Hash, "shop"); ok {
			t.Error("known before it was repeated: nothing was compared yet")
		}
		want, err := r.ledger.Claim(t.Context(), e)
		if err != nil || !want.Duplicate {
			t.Fatalf("%+v, %v", want, err)
		}
		got, ok := r.ledger.Known(e.Hash, "shop")
		want.Notification.Duplicates++
		want.Notification.DuplicateAt = got.Notification.DuplicateAt
		if !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("known %v:\n%+v\nwant\n%+v", ok, got, want)
		}
		for _, h := range []ledger.EventHash{{}, {2}} {
			if _, ok := r.ledger.Known(h, "shop"); ok {
				t.Errorf("%v is known", h)
			}
		}
		r.stop()
		r.start()
		if _, ok := r.ledger.Known(e.Hash, "shop"); ok {
			t.Error("known after a start")
		}
		row, err := r.ledger.Get(context.Background(), want.Notification.ID, nil)
		if err != nil || row.Duplicates != 2 || len(row.Suppressed) != 2 || row.Suppressed[0].Caller == row.Suppressed[1].Caller {
			t.Errorf("%d repeats counted: %+v, %v", row.Duplicates, row.Suppressed, err)
		}
	})
}

// What was refused as another event under the same key is never known, however often it comes.
func TestKnown_NeverWhatDiffers(t *testing.T) {
	for _, change := range []ledger.MessageChange{ledger.MessageChangeRefuse, ledger.MessageChangeAccept} {
		bubble(t, func(r *rig) { r.settings.OnMessageChange = change }, func(t *testing.T, r *rig) {
			r.claim("e1")
			other := event("e1")
			other.Hash, other.Message = ledger.EventHash{1}, []byte(`{"text":"another"}`)
			for range 3 {
				_, err := r.ledger.Claim(t.Context(), other)
				if refused := err != nil; refused != (change == ledger.MessageChangeRefuse) {
					t.Fatal(err)
				}
				if _, ok := r.ledger.Known(other.Hash, "shop"); ok {
					t.Error("known although its message differs")
				}
			}
		})
	}
}
