package walk

import (
	"fmt"
	"time"
)

// Gone is the answer to whatever is asked of a row that was erased.
const Gone = "content_gone" // 409

// erased is what the retention did: only rows that ended, with all that were sent again for one another, after their time.
func (m *Model) erased(r *Row, now time.Time) error {
	if m.Waiting {
		return fmt.Errorf("was erased in an old copy that nobody accepted")
	}
	if r == m.Rows[len(m.Rows)-1] {
		return fmt.Errorf("was erased, although it is the newest")
	}
	for _, x := range m.family(r) {
		if !x.Gone && !m.MayErase(x, now) {
			return fmt.Errorf("was erased: %s is %s since %v", x.ID, x.State, x.Changed)
		}
	}
	r.Gone = true
	r.Moves++
	m.Erased++
	return nil
}

// MayErase reports whether a row may be erased by now, as far as it is concerned itself.
func (m *Model) MayErase(r *Row, now time.Time) bool {
	return r.Final() && !now.Before(r.Changed.Truncate(time.Millisecond).Add(m.Rules.Keep))
}

// family is a row with those that it was sent again for, and those that were sent again for it.
func (m *Model) family(r *Row) []*Row {
	for m.byID[r.Parent] != nil {
		r = m.byID[r.Parent]
	}
	list := []*Row{r}
	for i := 0; i < len(list); i++ {
		for _, x := range m.Rows {
			if x.Parent == list[i].ID {
				list = append(list, x)
			}
		}
	}
	return list
}

// whole reports that of a family all rows are erased, or none.
func (m *Model) whole(r *Row) error {
	for _, x := range m.family(r) {
		if x.Gone != r.Gone {
			return fmt.Errorf("of it and %s, which was sent again, one is erased", x.ID)
		}
	}
	return nil
}
