package ledger

import "time"

// look is a row that is looked for.
type look struct {
	row      Notification
	search   Search
	handings []handing
	since    time.Time // the end of the last handing
	looks    int       // that were made since
}

// handing is the time in which a provider may have made the message of one handing: an attempt and its repeats.
type handing struct {
	number      int
	from, until time.Time
}

// lookFor says what to look for; false: nothing of the row can be found at this provider.
func (l *Ledger) lookFor(o *outlet, rec *Record, u unknown) (look, bool) {
	n := &rec.Notification
	if n.ContentGone() || n.Reason == ReasonPartial || u.looks >= len(o.lookUps().At) {
		return look{}, false
	}
	timeout := o.timeout
	if timeout <= 0 {
		timeout = l.settings.Channels[n.Channel].Timeout
	}
	i := look{row: *n, since: u.since, looks: u.looks}
	for _, a := range rec.Attempts {
		if a.Provider != o.name || a.Open() || a.Outcome != Ambiguous || o.lookUps().ByContent && a.Account != o.provider.Account() {
			continue
		}
		end := a.StartedAt.Add(timeout + o.patience()) // of a process that died, it may have been found open much later
		if a.EndedAt.Before(end) {
			end = a.EndedAt
		}
		from, until := a.StartedAt.Add(-lookBefore), end.Add(lookAfter)
		if a.Kind == KindRepeat && len(i.handings) > 0 {
			i.handings[len(i.handings)-1].until = until
			continue
		}
		i.handings = append(i.handings, handing{a.Number, from, until})
	}
	if len(i.handings) == 0 {
		return look{}, false
	}
	i.search = Search{
		ID: n.ID.String(), WireKey: WireKey(n.Source, n.DedupeKey, n.SourceInKey), Channel: n.Channel, Recipient: n.Recipient, Message: n.Message,
		From: i.handings[0].from, Until: i.handings[len(i.handings)-1].until,
	}
	for _, h := range i.handings {
		i.search.Attempts = append(i.search.Attempts, h.number)
	}
	if n.Channel == SMS {
		i.search.Recipient = n.RecipientKey
	}
	return i, true
}
