package ledger_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"sendonce/ledger"
)

// plant changes the file by hand, while nobody has it open.
func (r *rig) plant(statements ...string) {
	r.t.Helper()
	db, err := sql.Open("sqlite", r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			r.t.Fatal(err)
		}
	}()
	db.SetMaxOpenConns(1) // for the temporary table
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			r.t.Fatalf("%s: %v", s, err)
		}
	}
}

// F15: rows that cannot be worked on stand first and hold nobody up, over two starts.
func TestStart_RowsThatCannotBeSentHoldNobodyUp(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		r.unchecked = true // it would call the planted rows by their name
		a.then(unreachable)
		r.claim("first") // closes the gate, so that the others wait
		broken, pinned, free := r.claim("broken"), r.claim("pinned", func(e *ledger.Event) { e.Provider = "a" }), r.claim("free")
		var good []ledger.Notification
		for i := range 10 {
			good = append(good, r.claim(fmt.Sprint("good", i)))
		}
		r.stop()
		r.plant(
			fmt.Sprintf(`CREATE TEMP TABLE one AS SELECT * FROM contents WHERE notification = %d`, broken.Seq),
			`DELETE FROM contents WHERE notification = (SELECT notification FROM one)`,
			`UPDATE one SET message = '{"text":'`,
			`INSERT INTO contents SELECT * FROM one`,
			fmt.Sprintf(`UPDATE notifications SET provider = 'gone' WHERE seq IN (%d, %d)`, pinned.Seq, free.Seq),
		)
		a.then(accepted(""))
		for range 2 {
			r.start()
			r.advance(2 * time.Second)
			for _, n := range good {
				r.expect(n, ledger.StateSent, "")
			}
			rec := r.expect(broken, ledger.StateFailed, ledger.ReasonUnbuildable)
			if rec.AttemptCount != 0 || len(rec.Settlements) != 1 || rec.Settlements[0].Action != ledger.CauseUnbuildable {
				t.Errorf("unbuildable: %d attempts, settlements %+v", rec.AttemptCount, rec.Settlements)
			}
			r.expect(pinned, ledger.StateClaimed, ledger.ReasonProviderMissing)
			if rec := r.expect(free, ledger.StateSent, ""); rec.Provider != "a" {
				t.Errorf("sent by %s", rec.Provider)
			}
			r.stop()
		}
		r.start()
		before := len(a.sent())
		r.advance(24 * time.Hour)
		r.expect(pinned, ledger.StateClaimed, ledger.ReasonProviderMissing)
		r.advance(49 * time.Hour)
		r.expect(pinned, ledger.StateExpired, "")
		if got := len(a.sent()); got != before {
			t.Errorf("%d requests more", got-before)
		}
	})
}

// The schema refuses what could never be sent.
func TestStart_SchemaRefusesARowWithoutRecipient(t *testing.T) {
	bubble(t, nil, func(t *testing.T, r *rig) {
		n := r.claim("e1")
		r.stop()
		db, err := sql.Open("sqlite", r.path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Exec(`INSERT INTO contents (notification, recipient, recipient_key, message, content_hash)
 SELECT notification + 1, NULL, recipient_key, message, content_hash FROM contents WHERE notification = ?`, n.Seq)
		if err == nil || !strings.Contains(err.Error(), "contents.recipient") {
			t.Errorf("a row without recipient: %v", err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// F11: what was claimed and not begun is sent after a start; what was begun is ambiguous and never sent blindly.
func TestStart_AfterACrash(t *testing.T) {
	bubble(t, func(r *rig) { r.scripts["a"].workers = 1 }, func(t *testing.T, r *rig) {
		a := r.scripts["a"]
		a.thenDo(hang)
		begun, waiting := r.claim("begun"), r.claim("waiting")
		crashed := r.path
		r.path += ".copy"
		copyLedger(t, crashed, r.path)
		r.stop()
		a.thenDo(nil)
		calls := len(a.of(begun))
		r.start()
		r.expect(waiting, ledger.StateSent, "")
		rec := r.expect(begun, ledger.StateAmbiguous, ledger.ReasonProcessEnded)
		if !rec.MaybeSent || rec.Attempts[0].Open() || rec.Shown() != ledger.Ask {
			t.Errorf("row %+v", rec.Notification)
		}
		r.advance(24 * time.Hour)
		if got := len(a.of(begun)); got != calls {
			t.Errorf("%d attempts more for a row that may have been sent", got-calls)
		}
	})
}
