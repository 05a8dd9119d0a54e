package ledger

import (
	"slices"
	"sort"
	"strconv"
	"time"
)

// gone is an erased row as far as a reconciliation can tell: it may account for as many messages of its time as it had attempts.
type gone struct {
	from, until time.Time
	attempts    int
}

// matchErased finds the messages of an erased row by our reference, and keeps the time in which it may have made others: neither
// provider, recipient nor message ids are left.
func (c *comparison) matchErased(rec *Record) {
	if c.rows[rec.ID] != nil || rec.AttemptCount == 0 || !slices.Contains(c.Channels, rec.Channel) {
		return // the first was whole when it was read
	}
	g := gone{from: rec.ClaimedAt.Add(-lookBefore), until: rec.UpdatedAt.Add(lookAfter)}
	if g.until.Before(c.From) || !g.from.Before(c.Until) {
		return
	}
	c.count.Erased++
	for number := range rec.AttemptCount {
		list := c.byReference[rec.ID.String()+"-"+strconv.Itoa(number+1)]
		for _, m := range list {
			m.erased = true
		}
		if len(list) == 0 {
			g.attempts++
		}
	}
	c.gone = append(c.gone, g)
}

// placeErased gives as many messages as possible to the erased rows that may have sent them, since nobody can tell which did. What
// remains is more than they can have sent.
func (c *comparison) placeErased(list []*listed) {
	slices.SortStableFunc(list, func(a, b *listed) int { return a.At.Compare(b.At) })
	next := make([]int, len(list)+1) // the first that is free, from each on
	for i := range next {
		next[i] = i
	}
	free := func(i int) int {
		for next[i] != i {
			next[i] = next[next[i]]
			i = next[i]
		}
		return i
	}
	slices.SortFunc(c.gone, func(a, b gone) int { return a.until.Compare(b.until) }) // who ends first takes its first: so none is wasted
	for _, g := range c.gone {
		first := sort.Search(len(list), func(i int) bool { return !list[i].At.Before(g.from) })
		for range g.attempts {
			i := free(first)
			if i == len(list) || list[i].At.After(g.until) {
				break
			}
			list[i].erased, next[i] = true, i+1
		}
	}
}

// ofErased returns a function that tells whether erased rows were at work at a time.
func (c *comparison) ofErased() func(time.Time) bool {
	list := slices.Clone(c.gone)
	slices.SortFunc(list, func(a, b gone) int { return a.from.Compare(b.from) })
	for i := 1; i < len(list); i++ {
		if list[i].until.Before(list[i-1].until) {
			list[i].until = list[i-1].until // the latest end so far
		}
	}
	return func(at time.Time) bool {
		i := sort.Search(len(list), func(i int) bool { return list[i].from.After(at) })
		return i > 0 && !list[i-1].until.Before(at)
	}
}
