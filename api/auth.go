package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// Role says what a key may do.
type Role string

// The roles. Send claims, reads, cancels, holds, unholds, and releases failed rows that are surely not sent;
// read reads; operate reads and decides everything that a person can decide, but claims nothing.
const (
	RoleSend    Role = "send"
	RoleRead    Role = "read"
	RoleOperate Role = "operate"
)

// AccessKey is a key that callers present. Two of them may stand side by side while one replaces the other.
type AccessKey struct {
	Name   string   // shown as the actor of what is done with it
	SHA256 [32]byte // of the key; the key itself is nowhere
	Roles  []Role
	Source *string // binds the key to one source; nil: any
}

// roles is a set of roles, as a route asks for them and a key has them.
type roles uint8

const (
	sender roles = 1 << iota
	reader
	operator
	wholeLedger // of a route only: what it shows or changes belongs to no single source
	public      // of a route only: no key is asked for
	signed      // of a route only: nor of providers, whose signature is judged behind it

	everyRole = sender | reader | operator
)

// credential is an AccessKey ready for comparing.
type credential struct {
	AccessKey
	roles roles
}

// local is who calls a server without keys: somebody on this machine.
var local = credential{AccessKey: AccessKey{Name: "local"}, roles: everyRole}

// credentials reads the keys; it panics on what the config package refuses.
func credentials(keys []AccessKey) []credential {
	known := map[Role]roles{RoleSend: sender, RoleRead: reader, RoleOperate: operator}
	list := make([]credential, 0, len(keys))
	for _, k := range keys {
		c := credential{AccessKey: k}
		for _, r := range k.Roles {
			c.roles |= known[r]
			if known[r] == 0 {
				panic("api: unknown role " + string(r))
			}
		}
		if k.Name == "" || c.roles == 0 || k.SHA256 == sha256.Sum256(nil) || k.SHA256 == [32]byte{} {
			panic("api: a key needs a name, a role and the sum of a key that is not empty")
		}
		list = append(list, c)
	}
	return list
}

// authenticate finds the key of a request by its header alone, before anything of the body is read.
// Every way to fail gives the same answer.
func (a *API) authenticate(r *http.Request) (*credential, error) {
	if len(a.keys) == 0 {
		return &local, nil
	}
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return nil, refuse(codeUnauthorized)
	}
	scheme, key, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") || key == "" {
		return nil, refuse(codeUnauthorized)
	}
	i := Find(a.settings.Keys, key)
	if i < 0 {
		return nil, refuse(codeUnauthorized)
	}
	return &a.keys[i], nil
}

// Find returns which of the keys a caller has, or -1. All are compared, each in constant time.
func Find(keys []AccessKey, key string) int {
	sum := sha256.Sum256([]byte(key))
	found := -1
	for i := range keys {
		if subtle.ConstantTimeCompare(sum[:], keys[i].SHA256[:]) == 1 {
			found = i
		}
	}
	return found
}

// may says whether a key with these roles may use a route.
func (c *credential) may(needed roles) error {
	if needed == public || needed == signed {
		return nil
	}
	if c.roles&needed == 0 {
		return refuse(codeRoleMissing)
	}
	if needed&wholeLedger != 0 && c.Source != nil {
		return refuse(codeSourceNotAllowed).because("What this route shows or changes belongs to all sources; this key is bound to one.")
	}
	return nil
}

// sourceFor is the source that a request with this key is about: the named one, or the one that the key is
// bound to. nil is any source.
func (c *credential) sourceFor(named *string) (*string, error) {
	if c.Source == nil {
		return named, nil
	}
	if named != nil && *named != *c.Source {
		return nil, refuse(codeSourceNotAllowed)
	}
	return c.Source, nil
}
