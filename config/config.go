// Package config reads the settings of a service: defaults, then a YAML file, then the environment, then
// flags. It is strict, and it reports every fault at once with the place where it stands.
//
// docs/configuration.md has every key. The package knows the settings of providers, never how one is opened.
package config

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"sendonce/ledger"
	"sendonce/providers"
)

// DefaultFile is read from the working folder when no file was named.
const DefaultFile = "sendonce.yaml"

// Config is what is in force. A value that Load returned is valid.
type Config struct {
	Listen        string                     `koanf:"listen"`     // host:port; port 0 takes any free one
	Database      string                     `koanf:"database"`   // path of the ledger
	PublicURL     string                     `koanf:"public_url"` // where providers reach us, without a slash at the end; empty: nowhere
	Auth          Auth                       `koanf:"auth"`
	Providers     map[string]Provider        `koanf:"providers"`
	Channels      map[ledger.Channel]Channel `koanf:"channels"` // all channels; one without providers is not configured
	Policies      []Policy                   `koanf:"policies"`
	Keys          Keys                       `koanf:"keys"`
	NearDuplicate NearDuplicate              `koanf:"near_duplicate"`
	Operator      providers.OperatorSettings `koanf:"operator"` // without a URL people are told by the log only
	Shutdown      Shutdown                   `koanf:"shutdown"`
	Retention     Retention                  `koanf:"retention"`
	Storage       Storage                    `koanf:"storage"`
	Log           Log                        `koanf:"log"`

	table   map[string]providers.Type
	sources layers
}

// Auth says who may call. Without keys the service answers on loopback only.
type Auth struct {
	Keys []Key `koanf:"keys"`
}

// Key is one API key, known by its hash. Two keys may share a name while one replaces the other.
type Key struct {
	Name   string   `koanf:"name"`
	SHA256 string   `koanf:"sha256"` // 64 hex digits, lower case
	Roles  []string `koanf:"roles"`  // of Roles
	Source string   `koanf:"source"` // empty: not bound to a source
}

// Sum is the hash as bytes.
func (k Key) Sum() [sha256.Size]byte {
	var sum [sha256.Size]byte
	_, _ = hex.Decode(sum[:], []byte(k.SHA256)) // Load let only hex digits through
	return sum
}

// The roles of a key.
const (
	RoleSend    = "send"
	RoleRead    = "read"
	RoleOperate = "operate"
)

// Roles lists the roles.
var Roles = []string{RoleSend, RoleRead, RoleOperate}

// Provider is a configured outside service.
type Provider struct {
	Type             string `koanf:"type"`
	providers.Common `koanf:",squash"`
	Settings         providers.Settings `koanf:",squash"`
}

// Channel holds the rules of one channel.
type Channel struct {
	Providers    []string           `koanf:"providers"` // order of fail-over; webhook: the longest prefix wins
	Timeout      time.Duration      `koanf:"timeout"`
	Retry        []time.Duration    `koanf:"retry"`
	OnAmbiguous  ledger.OnAmbiguous `koanf:"on_ambiguous"`
	After        time.Duration      `koanf:"after"`
	ExpiresAfter time.Duration      `koanf:"expires_after"`
	Region       string             `koanf:"region"`
}

// Policy changes a channel's rules for some events; what it leaves out stays as the channel has it.
type Policy struct {
	EventType    string             `koanf:"event_type"`
	Channel      ledger.Channel     `koanf:"channel"`
	Lane         string             `koanf:"lane"`
	ExpiresAfter time.Duration      `koanf:"expires_after"`
	OnAmbiguous  ledger.OnAmbiguous `koanf:"on_ambiguous"`
	After        time.Duration      `koanf:"after"`
}

// Keys says how dedupe keys are made and what a repeated one may carry.
type Keys struct {
	Recipes         []Recipe             `koanf:"recipes"`
	Header          string               `koanf:"header"` // HeaderRefuse or HeaderAccept
	OnMessageChange ledger.MessageChange `koanf:"on_message_change"`
}

// What becomes of an Idempotency-Key header on a claim.
const (
	HeaderRefuse = "refuse"
	HeaderAccept = "accept"
)

// NearDuplicate sets the watch for the same content under another key.
type NearDuplicate struct {
	Window time.Duration `koanf:"window"`
	Action string        `koanf:"action"` // warn or off
}

// Shutdown bounds the stop.
type Shutdown struct {
	Drain time.Duration `koanf:"drain"`
}

// Retention says how long more than key, outcome and times is kept.
type Retention struct {
	After     time.Duration `koanf:"after"`     // of rows that ended; 0: for ever
	Unmatched time.Duration `koanf:"unmatched"` // of receipts about messages that no row is known for
}

// Storage keeps room for the answers of what is in flight.
type Storage struct {
	Reserve Size `koanf:"reserve"` // bytes
}

// Log shapes the log on stderr.
type Log struct {
	Level  string `koanf:"level"`
	Format string `koanf:"format"`
}

// Source is where settings come from.
type Source struct {
	File      string            // path of the YAML file; empty: none
	FileGiven bool              // somebody named it, so it must be there
	Env       []string          // as os.Environ gives it
	Flags     map[string]string // key to text, only those that were set
}

// Load reads and checks everything. The error is an *Error with all faults.
func Load(s Source) (Config, error) { return load(s, providers.Types) }

// load takes the table of types as an argument, so that tests have types with every kind of setting.
//
// Each place is checked on its own first, since a later one must not hide the faults of an earlier one; then
// all are merged, and what is in force is checked as a whole.
func load(s Source, table map[string]providers.Type) (Config, error) {
	found := &faults{}
	file := fileLayer(s, found)
	kinds := providerTypes(file.tree, s.Env)
	d := &decoder{table: table, kinds: kinds, faults: found}
	given := layers{file, envLayer(s.Env, d), flagLayer(s.Flags)}
	for _, l := range given {
		d.check(l)
	}
	all := append(layers{defaultLayer(given, table)}, given...)
	c := Config{table: table, sources: all.withoutValues()}
	d.settle(&c, all.merge())
	c.validate(found)
	if err := found.err(); err != nil {
		return Config{}, err
	}
	return c, nil
}
