package ledger

import "context"

// Keys shows the keys that an event has under each recipe. Event.Message is not looked at. *InvalidError.
func (l *Ledger) Keys(ctx context.Context, e Event) ([]KeyPreview, error) {
	recipient, err := RecipientKey(e.Channel, e.Recipient, l.settings.Channels[e.Channel].Region)
	if err != nil {
		return nil, err
	}
	var out []KeyPreview
	for i, r := range l.settings.Recipes {
		key, parts, err := r.Key(&e, recipient)
		if err != nil && i == 0 {
			return nil, err
		} else if err != nil {
			continue
		}
		p := KeyPreview{Recipe: r.Name, Parts: parts, DedupeKey: key}
		n, ok, err := l.store.Prior(ctx, Claim{Notification: Notification{Source: e.Source, DedupeKey: key, Recipe: r.Name}})
		if err != nil {
			return nil, err
		}
		if ok {
			p.Notification = &n
		}
		out = append(out, p)
	}
	return out, nil
}

// KeyPreview is a key as a recipe makes it.
type KeyPreview struct {
	Recipe       string
	Parts        []KeyPart
	DedupeKey    string
	Notification *Notification // the row that has it
}

// KeyPart is one part of a key.
type KeyPart struct{ Name, Value string }
