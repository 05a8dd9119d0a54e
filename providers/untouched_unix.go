//go:build linux || darwin || freebsd

package providers

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// untouched reports whether nothing has come on an idle connection, neither bytes nor its end. Bytes would be a late or unasked answer,
// and be taken for the next one's; behind the end nobody reads.
func untouched(conn net.Conn) bool {
	known, ok := conn.(syscall.Conn)
	if !ok { // one in memory, which tells of its end only
		if conn.SetReadDeadline(time.Unix(1, 0)) != nil {
			return false
		}
		_, err := conn.Read(make([]byte, 1))
		return errors.Is(err, os.ErrDeadlineExceeded) && conn.SetReadDeadline(time.Time{}) == nil
	}
	raw, err := known.SyscallConn()
	if err != nil {
		return false
	}
	quiet := false
	err = raw.Read(func(fd uintptr) bool {
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		quiet = err == syscall.EAGAIN
		return true
	})
	return err == nil && quiet
}
