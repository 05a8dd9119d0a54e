package ledger

import "time"

// offer hands a due row over in memory. Behind a backlog, or when memory is full, the row stays in the store only.
func (o *outlet) offer(n Notification) {
	o.mu.Lock()
	l := &o.lanes[n.Lane]
	switch {
	case l.more || o.pending[n.Seq]:
		l.more = true
	case len(l.rows) >= laneRoom:
		l.more = true
	default:
		l.rows = append(l.rows, n)
		o.pending[n.Seq] = true
	}
	o.mu.Unlock()
	o.poke()
}

// forget drops what is held in memory: it is read from the store again.
func (o *outlet) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.lanes {
		for j := range o.lanes[i].rows {
			delete(o.pending, o.lanes[i].rows[j].Seq)
		}
		o.lanes[i] = lane{more: true}
	}
}

// skim drops rows that nothing passes for. They stay in the store, in their order, and are read again when a gate has changed
// or may let a probe pass: to look through a backlog for each row that joins it would cost more than to send it.
func (o *outlet) skim() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.lanes {
		for j := range o.lanes[i].rows {
			delete(o.pending, o.lanes[i].rows[j].Seq)
		}
		o.lanes[i].rows = nil
	}
	o.skimmed = true
}

// pop returns the first row, urgent ones before normal ones, that accept takes. Rows that it refuses are
// dropped from memory; they stay in the store and are read again. accept asks other outlets, which may be asking this one at the
// same time: it runs without the lock.
func (o *outlet) pop(accept func(*Notification) bool) (Notification, bool) {
	for {
		n, ok := o.unqueue()
		if !ok || accept(&n) {
			return n, ok
		}
		o.mu.Lock()
		delete(o.pending, n.Seq)
		o.lanes[n.Lane].more = true
		o.mu.Unlock()
	}
}

// unqueue takes the first row out of its lane. It stays in work.
func (o *outlet) unqueue() (Notification, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.lanes {
		l := &o.lanes[i]
		if len(l.rows) == 0 {
			continue
		}
		n := l.rows[0]
		l.rows[0] = Notification{}
		if l.rows = l.rows[1:]; len(l.rows) == 0 {
			l.rows = nil
		}
		return n, true
	}
	return Notification{}, false
}

// rows copies the rows of both lanes that go first.
func (o *outlet) rows(most int) (rows []Notification) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.lanes {
		n := min(len(o.lanes[i].rows), most-len(rows))
		rows = append(rows, o.lanes[i].rows[:n]...)
	}
	return rows
}

// reading says which lanes are to be read, and whether only rows that another provider may take are wanted. From here on
// what comes meanwhile is noted in the lane, so that a reading which began before cannot hide it.
func (o *outlet) reading(now time.Time) (movable bool, lanes [2]bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.nextDue.IsZero() && !now.Before(o.nextDue) {
		o.nextDue = time.Time{}
		o.lanes[Urgent].more, o.lanes[Normal].more = true, true
	}
	shut := o.provider == nil || !o.gate.Open() && !o.gate.Ready(now)
	if o.skimmed && !shut {
		o.skimmed, o.lanes[Urgent].more, o.lanes[Normal].more = false, true, true
	}
	for i := range o.lanes {
		if lanes[i] = o.lanes[i].more && len(o.lanes[i].rows) == 0; lanes[i] {
			o.lanes[i].more = false
		}
	}
	return shut, lanes
}

// fill puts rows that were read into a lane. next is when the row after them is due.
func (o *outlet) fill(lane Lane, rows []Notification, next time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lanes[lane].more = o.lanes[lane].more || len(rows) == laneRead
	o.nextDue = earlier(o.nextDue, next)
	for _, n := range rows {
		if !o.pending[n.Seq] {
			o.pending[n.Seq] = true
			o.lanes[lane].rows = append(o.lanes[lane].rows, n)
		}
	}
	if len(rows) == laneRead && len(o.lanes[lane].rows) == 0 { // all of them are in work: look again when that has moved on
		o.nextDue = rows[0].DueAt
		o.lanes[lane].more = false
	}
}
