package walk

import "context"

// gate pauses a provider or opens it again.
func (w *world) gate() error {
	names := []string{"first", "second", "keyed"}
	provider := names[w.random.IntN(len(names))]
	if !w.model.Gates[provider].Paused && w.chance(60) {
		return w.pause(provider)
	}
	return w.resume(provider)
}

func (w *world) pause(provider string) error {
	w.did("pause %s", provider)
	w.model.Gates[provider].Paused = true
	_, err := w.ledger.Pause(context.Background(), provider, "walk", "walk")
	return err
}

func (w *world) resume(provider string) error {
	w.did("resume %s", provider)
	w.model.Gates[provider].Resume()
	_, err := w.ledger.Resume(context.Background(), provider, "walk")
	return err
}
