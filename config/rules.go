package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nyaruka/phonenumbers"

	"sendonce/ledger"
)

var providerName = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)

// providers checks names, types and the settings that all types share; the rest is the type's own to judge.
func (v checker) providers() {
	types := slices.Sorted(maps.Keys(v.table))
	for name, p := range v.Providers {
		at := join("providers", name)
		if !providerName.MatchString(name) {
			v.fault(at, "must have a name of 1 to 64 of a-z, 0-9 and _")
			continue
		}
		switch {
		case p.Type == "":
			v.fault(at+".type", "is missing: it is %s", oneOf(types))
			continue
		case p.Settings == nil:
			v.fault(at+".type", "must be %s%s", oneOf(types), suggest(p.Type, types))
			continue
		case name == logName && p.Type != logName:
			v.fault(at+".type", "must be log: channels that name log mean the one that only prints")
		}
		if p.Timeout != 0 || v.sources.gives(at+".timeout") {
			v.between(at+".timeout", p.Timeout, MinWait, MaxTimeout)
		}
		if p.Workers < 1 || p.Workers > MaxWorkers {
			v.fault(at+".workers", "must be 1 to %d", MaxWorkers)
		}
		v.between(at+".repeat_window", p.RepeatWindow, 0, MaxRetry)
		for _, f := range p.Settings.Validate(p.Common) {
			v.fault(join(at, f.Field), "%s", f.Detail)
		}
	}
}

// channels checks the rules of every channel, the defaults of those that were not configured included.
func (v checker) channels() {
	for name, ch := range v.Channels {
		at := join("channels", string(name))
		if !slices.Contains(ledger.Channels, name) {
			v.fault(at, "is no channel: there are %s%s", oneOf(channelNames()), suggest(string(name), channelNames()))
			continue
		}
		v.channelProviders(at, name, ch)
		v.between(at+".timeout", ch.Timeout, MinWait, MaxTimeout)
		if len(ch.Retry) > MaxSteps {
			v.fault(at+".retry", "must have at most %d steps", MaxSteps)
		}
		for i, step := range ch.Retry {
			v.between(index(at+".retry", i), step, MinWait, MaxRetry)
		}
		v.between(at+".expires_after", ch.ExpiresAfter, MinWait, MaxExpiry)
		v.onAmbiguous(at, ch.OnAmbiguous, ch.After, ch.ExpiresAfter)
		if ch.OnAmbiguous == ledger.OnAmbiguousAsk && v.sources.gives(at+".after") {
			v.fault(at+".after", "has nothing to wait for: on_ambiguous is ask")
		}
		switch {
		case ch.Region == "":
		case name != ledger.SMS:
			v.fault(at+".region", "is for sms only")
		case phonenumbers.GetCountryCodeForRegion(ch.Region) == 0:
			v.fault(at+".region", "must be a region of ISO 3166 in capitals, such as US or GB")
		}
	}
}

// channelProviders checks the names of a channel's providers. A channel that was given rules was meant to be used.
func (v checker) channelProviders(at string, name ledger.Channel, ch Channel) {
	key := at + ".providers"
	if len(ch.Providers) == 0 {
		if v.sources.gives(at) {
			v.fault(key, "must name at least one provider, or leave the channel out%s", v.serving(name))
		}
		return
	}
	for i, p := range ch.Providers {
		item := index(key, i)
		known, ok := v.Providers[p]
		kind, typed := v.table[known.Type]
		switch {
		case !ok && v.faults.covers(join("providers", p)):
		case !ok:
			v.fault(item, "names no configured provider%s", suggest(p, v.ProviderNames()))
		case typed && !slices.Contains(kind.Channels, name):
			v.fault(item, "names a provider of type %s, which does not serve %s", known.Type, name)
		case slices.Contains(ch.Providers[:i], p):
			v.fault(item, "names a provider twice")
		}
	}
}

// serving lists the configured providers that a channel could name.
func (v checker) serving(name ledger.Channel) string {
	var fit []string
	for _, p := range v.ProviderNames() {
		if slices.Contains(v.table[v.Providers[p].Type].Channels, name) {
			fit = append(fit, p)
		}
	}
	if fit == nil {
		return ""
	}
	return " (it could be " + oneOf(fit) + ")"
}

// onAmbiguous checks what happens when evidence has ended, and when. expiry is 0 where another rule decides it.
func (v checker) onAmbiguous(at string, rule ledger.OnAmbiguous, after, expiry time.Duration) {
	word(v, at+".on_ambiguous", rule, ledger.OnAmbiguousAsk, ledger.OnAmbiguousSendAgain,
		ledger.OnAmbiguousAssumeSent, ledger.OnAmbiguousAbandon)
	given := v.sources.gives(at+".after") || after != 0
	switch {
	case !given && rule != ledger.OnAmbiguousAsk:
		v.fault(at+".after", "is missing: on_ambiguous needs a time to wait for evidence")
	case given:
		v.between(at+".after", after, MinWait, MaxExpiry)
		if expiry != 0 && after >= expiry {
			v.fault(at+".after", "must be shorter than expires_after, or it never acts")
		}
	}
}

// policies checks each policy by itself. One that matches everything or changes nothing was meant otherwise.
func (v checker) policies() {
	if len(v.Policies) > MaxNames {
		v.fault("policies", "must have at most %d items", MaxNames)
	}
	for i, p := range v.Policies {
		at := index("policies", i)
		if p.EventType == "" && p.Channel == "" {
			v.fault(at, "must say which events it is for: event_type, channel or both")
		}
		if p.Lane == "" && p.ExpiresAfter == 0 && p.OnAmbiguous == "" && p.After == 0 {
			v.fault(at, "changes nothing: give it lane, expires_after, on_ambiguous or after")
		}
		if utf8.RuneCountInString(p.EventType) > ledger.MaxEventType || hasControl(p.EventType) {
			v.fault(at+".event_type", "must be at most %d characters, none of them a control character", ledger.MaxEventType)
		}
		if p.Channel != "" {
			word(v, at+".channel", p.Channel, ledger.Channels...)
		}
		if p.Lane != "" {
			word(v, at+".lane", p.Lane, ledger.Urgent.String(), ledger.Normal.String())
		}
		if p.ExpiresAfter != 0 {
			v.between(at+".expires_after", p.ExpiresAfter, MinWait, MaxExpiry)
		}
		switch {
		case p.OnAmbiguous != "":
			v.onAmbiguous(at, p.OnAmbiguous, p.After, p.ExpiresAfter)
		case p.After != 0:
			v.between(at+".after", p.After, MinWait, MaxExpiry)
		}
	}
}

// recipes checks how keys are made. Names are unique, since a row remembers its recipe by name: a second one of
// the same name would not find the rows of the first.
func (v checker) recipes() {
	if len(v.Keys.Recipes) == 0 {
		v.fault("keys.recipes", "must name at least one recipe: event or type-user-event, or one of your own")
	}
	for i, r := range v.Keys.Recipes {
		at := index("keys.recipes", i)
		for _, f := range ledger.Recipe(r).Validate() {
			v.fault(join(at, f.Field), "%s", f.Detail)
		}
		for _, earlier := range v.Keys.Recipes[:i] {
			if earlier.Name == r.Name {
				v.fault(at, "has the name of an earlier recipe")
			}
		}
	}
	word(v, "keys.header", v.Keys.Header, HeaderRefuse, HeaderAccept)
	word(v, "keys.on_message_change", v.Keys.OnMessageChange, ledger.MessageChangeRefuse, ledger.MessageChangeAccept)
}

// rest checks the small sections.
func (v checker) rest() {
	v.between("near_duplicate.window", v.NearDuplicate.Window, time.Second, MaxWindow)
	word(v, "near_duplicate.action", v.NearDuplicate.Action, NearWarn, NearOff)
	for _, f := range v.Operator.Validate() {
		v.fault(join("operator", f.Field), "%s", f.Detail)
	}
	v.between("shutdown.drain", v.Shutdown.Drain, 0, MaxDrain)
	if v.Retention.After != 0 {
		v.between("retention.after", v.Retention.After, MinKept, MaxKept)
	}
	v.between("retention.unmatched", v.Retention.Unmatched, MinKept, MaxKept)
	if v.Storage.Reserve > MaxReserve {
		v.fault("storage.reserve", "must be at most %s", Size(MaxReserve))
	}
	word(v, "log.level", v.Log.Level, "debug", "info", "warn", "error")
	word(v, "log.format", v.Log.Format, "text", "json")
}

// channelNames are the channels as text.
func channelNames() []string {
	names := make([]string, len(ledger.Channels))
	for i, c := range ledger.Channels {
		names[i] = string(c)
	}
	return names
}

// span writes a duration without the zeros that time.Duration adds: 10m, not 10m0s.
func span(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}
