// Package ledger is the domain of sendonce: what a notification is, which key it stands under, what may
// happen to it, and the loop that hands it to a provider at most once without knowing that it was not sent.
//
// The words, the same in code, SQL, JSON and logs:
//
//   - An event happened at the caller. A notification is one event to one recipient on one channel.
//   - The dedupe key is derived from the event and unique for ever; to claim is to make the row under it, or
//     to be shown the one that has it.
//   - An attempt is one handing of the notification to one provider. Its outcome is accepted, rejected,
//     deferred (surely not sent) or ambiguous (a lost answer).
//   - A gate says whether a provider may be used now. A proof shows that an attempt was accepted.
//   - A settlement records every change of a row that is no attempt.
//
// How the states follow one another (Transitions is the table; a proof leads from every state but sending to sent):
//
//	          hold / unhold
//	claim ──► claimed ◄────► held           claimed, held ──► cancelled, expired
//	             │ ▲                        claimed ──► failed (unbuildable)
//	        take │ │ deferred, fault
//	             ▼ │
//	          sending ──────────────► sent      (accepted)
//	             │ ▲ └──────────────► failed    (rejected, exhausted)
//	   ambiguous │ │ repeat
//	             ▼ │
//	          ambiguous ── confirm ──► sent
//	             ├─────── release ──► claimed
//	             └─────── abandon ──► failed
//
// The package imports no technology: a Store and Providers are handed to New.
package ledger
