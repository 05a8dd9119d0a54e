package ledger

import "testing"

// BenchmarkClaimPath is what every claim pays before the store sees it.
func BenchmarkClaimPath(b *testing.B) {
	e := Event{
		EventID: "evt_2291", EventType: "order.shipped", Source: "shop", UserID: "u_17", Channel: SMS,
		Recipient: "+1 415 555 0142", Message: []byte(`{"text":"Order A-2291 shipped."}`), Metadata: []byte(`{"order":"A-2291"}`),
	}
	mail := e
	mail.Channel, mail.Recipient = Email, "Ada.Lovelace@Example.test"
	mail.Message = []byte(`{"subject":"Order A-2291","text":"It has left us today.","html":"<p>It has left us today.</p>","reply_to":"help@example.test","headers":{"X-Order":"A-2291"}}`)
	recipe := RecipeEvent()
	step := func(b *testing.B, e *Event) {
		b.ReportAllocs()
		for b.Loop() {
			if err := e.Validate(); err != nil {
				b.Fatal(err)
			}
			form, err := RecipientKey(e.Channel, e.Recipient, "")
			if err != nil {
				b.Fatal(err)
			}
			if _, _, err := recipe.Key(e, form); err != nil {
				b.Fatal(err)
			}
			if _, err := ParseMessage(e.Channel, e.Message); err != nil {
				b.Fatal(err)
			}
			ContentHash(e.Channel, form, e.Message)
		}
	}
	b.Run("sms", func(b *testing.B) { step(b, &e) })
	b.Run("email", func(b *testing.B) { step(b, &mail) })
}
