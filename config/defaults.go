package config

import (
	"slices"

	"sendonce/ledger"
	"sendonce/providers"
)

// logName is the provider that is there without being configured. It only prints.
const logName = "log"

// The ladders: receivers of webhooks come back later than providers of messages do.
var (
	messageLadder = []any{"30s", "2m", "10m", "30m", "2h"}
	webhookLadder = []any{"5s", "5m", "30m", "2h", "5h", "10h"}
)

// defaultLayer holds what is in force where nothing was said. Some of it follows from what was said: a
// provider's limits from its type, and log where no other provider is.
func defaultLayer(given layers, table map[string]providers.Type) layer {
	said := given.merge()
	configured, _ := said["providers"].(map[string]any)
	onlyLog := len(configured) == 0 || len(configured) == 1 && configured[logName] != nil

	channels := map[string]any{}
	named := onlyLog
	for _, name := range ledger.Channels {
		rules := map[string]any{
			"timeout": "15s", "retry": messageLadder, "on_ambiguous": "ask", "expires_after": "72h",
		}
		if name == ledger.Webhook {
			rules["retry"] = webhookLadder
		}
		if onlyLog {
			rules["providers"] = []any{logName}
		}
		channels[string(name)] = rules
		named = named || names(said, string(name), logName)
	}
	return layer{marks: map[string]string{"": "default"}, text: true, tree: map[string]any{
		"listen":         "127.0.0.1:8484",
		"database":       "sendonce.db",
		"providers":      providerDefaults(configured, named, table),
		"channels":       channels,
		"keys":           map[string]any{"recipes": []any{"event"}, "header": HeaderRefuse, "on_message_change": "refuse"},
		"near_duplicate": map[string]any{"window": "10m", "action": "warn"},
		"shutdown":       map[string]any{"drain": "30s"},
		"retention":      map[string]any{"after": "0s", "unmatched": "720h"},
		"storage":        map[string]any{"reserve": "64MiB"},
		"log":            map[string]any{"level": "info", "format": "text"},
	}}
}

// names reports whether a channel names the provider.
func names(said map[string]any, channel, provider string) bool {
	section, _ := said["channels"].(map[string]any)
	rules, _ := section[channel].(map[string]any)
	list, _ := rules["providers"].([]any)
	return slices.Contains(list, any(provider))
}

// providerDefaults has the limits of every configured provider, and log where somebody needs it.
func providerDefaults(configured map[string]any, withLog bool, table map[string]providers.Type) map[string]any {
	out := map[string]any{}
	for name, raw := range configured {
		section, _ := raw.(map[string]any)
		kind, _ := section["type"].(string)
		if name == logName && kind == "" {
			withLog = true
		}
		out[name] = typeDefaults(table[kind])
	}
	if withLog {
		rules := typeDefaults(table[logName])
		rules["type"] = logName
		out[logName] = rules
	}
	return out
}

// typeDefaults are written as a file would have them, so that all layers are read the same way.
func typeDefaults(t providers.Type) map[string]any {
	return map[string]any{"workers": max(t.Workers, 1), "repeat_window": t.RepeatWindow.String()}
}
