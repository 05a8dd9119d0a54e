package store

import "encoding/hex"

// A derived key is 40 or 64 characters of lower-case hex. It is kept as its 20 or 32 bytes, which halves the index that every claim
// reads and writes at random; any other key is kept as text. The schema keeps the form to one: a key in the other would be a second
// row.

// keyOf is a dedupe key as the file has it.
func keyOf(key string) any {
	if n := len(key); n != 40 && n != 64 {
		return key
	}
	b := make([]byte, len(key)/2)
	for i := range len(key) {
		c := key[i]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		default: // upper case too: it is another key
			return key
		}
		b[i/2] = b[i/2]<<4 | c
	}
	return b
}

type toKey struct{ p *string }

func (d toKey) Scan(src any) error {
	switch v := src.(type) {
	case []byte:
		var b [64]byte
		if 2*len(v) > len(b) {
			return unexpected(src, "a key")
		}
		*d.p = string(b[:hex.Encode(b[:], v)])
	case string:
		*d.p = v
	default:
		return unexpected(src, "a key")
	}
	return nil
}
