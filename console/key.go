package console

import (
	"context"

	"sendonce/ledger"
)

// keyStory tells how a row came to its key.
type keyStory struct {
	Key    string
	Recipe string
	Parts  []ledger.KeyPart
	Kind   string // derived, given, resend, or unknown where the recipe is not configured any more or the recipient was erased
}

// explainKey finds the recipe that made a row's key. The recipient among its parts is masked unless revealed.
func (c *Console) explainKey(ctx context.Context, n *ledger.Notification, revealed bool) keyStory {
	story := keyStory{Key: n.DedupeKey, Recipe: n.Recipe, Kind: "unknown"}
	switch {
	case n.ResendOf != [16]byte{}:
		story.Kind = "resend"
		return story
	case n.Recipe == ledger.RecipeGiven:
		story.Kind = "given"
		return story
	case n.RecipientKey == "":
		return story
	}
	previews, err := c.ledger.Keys(ctx, ledger.Event{
		EventID: n.EventID, EventType: n.EventType, Source: n.Source, UserID: n.UserID, Channel: n.Channel, Recipient: n.RecipientKey,
	})
	if err != nil { // an event that would be refused today: its row stands nevertheless
		return story
	}
	for _, p := range previews {
		if p.Recipe != n.Recipe || p.DedupeKey != n.DedupeKey {
			continue
		}
		story.Kind, story.Parts = "derived", p.Parts
		for i := range story.Parts {
			if story.Parts[i].Name == "recipient" && !revealed {
				story.Parts[i].Value = mask(n)
			}
		}
	}
	return story
}
