package main

import "testing"

// The judge of the settle run sees each fault that it is there for.
func TestSettleJudge_SeesEachFault(t *testing.T) {
	row := func(change func(*settleRow)) *settleRow {
		r := &settleRow{n: 1, ID: "row", State: "sent", MessageID: "id-1"} // of twilio
		change(r)
		return r
	}
	nothing := func(*settleRow) {}
	released := func(r *settleRow) { r.Settlements = []settleStep{{Action: "release"}} }
	cases := map[string]struct {
		rows []*settleRow
		got  int
		want settleLine // counts only
	}{
		"sent once":                   {[]*settleRow{row(nothing)}, 1, settleLine{}},
		"received twice":              {[]*settleRow{row(nothing)}, 2, settleLine{blind: 1}},
		"released, received twice":    {[]*settleRow{row(released)}, 2, settleLine{caused: 1}},
		"released, received thrice":   {[]*settleRow{row(released)}, 3, settleLine{blind: 1}},
		"sent, and nobody got it":     {[]*settleRow{row(nothing)}, 0, settleLine{wrong: 1}},
		"failed, and somebody got it": {[]*settleRow{row(func(r *settleRow) { r.State, r.MessageID = "failed", "" })}, 1, settleLine{wrong: 1}},
		"failed, may have been sent":  {[]*settleRow{row(func(r *settleRow) { r.State, r.MessageID, r.MaybeSent = "failed", "", true })}, 1, settleLine{}},
		"of another's id":             {[]*settleRow{row(func(r *settleRow) { r.MessageID = "id-3" })}, 1, settleLine{wrong: 1}},
		"never sent":                  {[]*settleRow{row(func(r *settleRow) { r.State, r.MessageID = "claimed", "" })}, 0, settleLine{missing: 1}},
		"delivered to nobody": {
			[]*settleRow{row(func(r *settleRow) { r.State, r.MessageID, r.Delivery = "ambiguous", "", "delivered" })}, 0, settleLine{wrong: 1},
		},
		"two of one text, both received": {
			[]*settleRow{row(nothing), row(func(r *settleRow) { r.MessageID = "id-2" })}, 2, settleLine{},
		},
		"two of one text, one received": {
			[]*settleRow{row(nothing), row(func(r *settleRow) { r.MessageID = "id-2" })}, 1, settleLine{wrong: 1},
		},
		"two of one text with one id": {[]*settleRow{row(nothing), row(nothing)}, 2, settleLine{wrong: 1}},
	}
	for name, c := range cases {
		var l settleLine
		faults := l.judgeGroup(c.rows, c.got, map[string]bool{"id-1": true, "id-2": true})
		if l.blind != c.want.blind || l.caused != c.want.caused || l.wrong != c.want.wrong || l.missing != c.want.missing ||
			len(faults) != l.blind+l.wrong+l.missing {
			t.Errorf("%s: %+v, want %+v\n%v", name, l, c.want, faults)
		}
	}
}
