package providers

import (
	"io"
	"net"
	"time"
)

// act is what a server does at one step; false: it is done with the connection.
type act func(c net.Conn) bool

func says(text string) act {
	return func(c net.Conn) bool {
		_, err := io.WriteString(c, text)
		return err == nil
	}
}

func drops(net.Conn) bool { return false }

// stays silent until the client is gone.
func silent(c net.Conn) bool {
	_, _ = io.Copy(io.Discard, c)
	return false
}

// drips a text, a byte in ten seconds.
func drips(text string) act {
	return func(c net.Conn) bool {
		for i := range len(text) {
			time.Sleep(10 * time.Second)
			if _, err := io.WriteString(c, text[i:i+1]); err != nil {
				return false
			}
		}
		return true
	}
}

// endless repeats a text until the client is gone.
func endless(text string) act {
	return func(c net.Conn) bool {
		for {
			if _, err := io.WriteString(c, text); err != nil {
				return false
			}
		}
	}
}

// at does something at one step, at EHLO to HELO too.
func at(step string, a act) func(string, string) act {
	return func(s, _ string) act {
		if s == step || step == "EHLO" && s == "HELO" {
			return a
		}
		return nil
	}
}

// only does something at one step.
func only(step string, a act) func(string, string) act {
	return func(s, _ string) act {
		if s == step {
			return a
		}
		return nil
	}
}

// after says a text when a time is over.
func after(text string, wait time.Duration) act {
	return func(c net.Conn) bool {
		time.Sleep(wait)
		return says(text)(c)
	}
}

// plainly answers the first message of TLS in plain text.
func plainly(text string) act {
	return func(c net.Conn) bool {
		_, _ = c.Read(make([]byte, 16<<10))
		return says(text)(c) && silent(c)
	}
}
