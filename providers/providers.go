// Package providers holds the adapters to outside services and the one sender that they share.
//
// An adapter is two pure functions around the sender: build the request, read the answer. It never decides
// about a second attempt, it only says what is known.
package providers

import (
	"time"

	"sendonce/ledger"
)

// Common are the settings that every type takes.
type Common struct {
	BaseURL      string        `koanf:"base_url"`
	Timeout      time.Duration `koanf:"timeout"`
	Rate         Rate          `koanf:"rate"`
	Workers      int           `koanf:"workers"`
	RepeatWindow time.Duration `koanf:"repeat_window"`
}

// Rate is requests a second, written as "10/s", "300/m" or "1000/h"; 0 is no limit.
type Rate float64

// Secret is a setting that never shows in a log, an error or the printed configuration.
type Secret string

// String hides the value.
func (s Secret) String() string { return "***" }

// GoString hides the value.
func (s Secret) GoString() string { return "***" }

// Settings are what one type needs besides Common; the fields carry koanf tags.
type Settings interface {
	// Validate names each faulty key, as it stands below the provider's name, and says what is right.
	Validate(c Common) []ledger.FieldError
	// New makes the adapter from valid settings.
	New(name string, c Common) (ledger.Provider, error)
}

// Type is a kind of provider.
type Type struct {
	Channels     []ledger.Channel
	Settings     func() Settings // a pointer to empty settings
	Workers      int             // default
	RepeatWindow time.Duration   // default
	Real         bool            // something leaves this machine
}

// Types is the table of all types: adding one is a line here, a file, and a folder of fixtures.
var Types = map[string]Type{}
