package config

import (
	"maps"
	"slices"

	"sendonce/ledger"
)

// Ledger gives the rules in the ledger's own terms. It has every channel: one that lost its providers may
// still have rows.
func (c Config) Ledger() ledger.Settings {
	s := ledger.Settings{
		Channels:        make(map[ledger.Channel]ledger.ChannelSettings, len(c.Channels)),
		OnMessageChange: c.Keys.OnMessageChange,
		Drain:           c.Shutdown.Drain,
		Retention:       ledger.Retention(c.Retention),
	}
	for name, ch := range c.Channels {
		s.Channels[name] = ledger.ChannelSettings{
			Providers: ch.Providers, Timeout: ch.Timeout, Retry: ch.Retry, OnAmbiguous: ch.OnAmbiguous,
			After: ch.After, ExpiresAfter: ch.ExpiresAfter, Region: ch.Region,
		}
	}
	for _, p := range c.Policies {
		s.Policies = append(s.Policies, ledger.PolicySettings(p))
	}
	for _, r := range c.Keys.Recipes {
		s.Recipes = append(s.Recipes, ledger.Recipe(r))
	}
	if c.NearDuplicate.Action == NearWarn {
		s.NearDuplicate.Window = c.NearDuplicate.Window
	}
	return s
}

// Real reports whether a configured provider lets something leave this machine.
func (c Config) Real() bool {
	for _, p := range c.Providers {
		if c.table[p.Type].Real {
			return true
		}
	}
	return false
}

// ProviderNames lists the configured providers in the order of their names.
func (c Config) ProviderNames() []string {
	return slices.Sorted(maps.Keys(c.Providers))
}

// ChannelsOf lists the channels that name a provider.
func (c Config) ChannelsOf(provider string) []ledger.Channel {
	var out []ledger.Channel
	for _, name := range ledger.Channels {
		if slices.Contains(c.Channels[name].Providers, provider) {
			out = append(out, name)
		}
	}
	return out
}
