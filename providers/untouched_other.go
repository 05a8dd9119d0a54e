//go:build !(linux || darwin || freebsd)

package providers

import "net"

// untouched cannot tell here, so no connection is used again.
func untouched(net.Conn) bool { return false }
