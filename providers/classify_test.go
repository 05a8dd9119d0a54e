package providers

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		value, date string
		want        time.Duration
	}{
		{"", "", 0},
		{"30", "", 30 * time.Second},
		{" 30 ", "", 30 * time.Second},
		{"0", "", 0},
		{"86401", "", 24 * time.Hour},
		{"99999999999999999999", "", 0},
		{"-5", "", 0},
		{"+5", "", 0},
		{"1.5", "", 0},
		{"soon", "", 0},
		{"Mon, 30 Nov 2026 10:01:30 GMT", "Mon, 30 Nov 2026 10:00:30 GMT", time.Minute},
		{"Mon, 30 Nov 2026 10:01:30 GMT", "", 90 * time.Second}, // against the attempt's time
		{"Mon, 30 Nov 2026 10:01:30 GMT", "yesterday", 90 * time.Second},
		{"Mon, 30 Nov 2026 09:00:00 GMT", "", 0},
		{"Mon, 30 Nov 9999 09:00:00 GMT", "", 24 * time.Hour},
	} {
		x := exchange{at: testTime, header: http.Header{}}
		x.header.Set("Retry-After", c.value)
		x.header.Set("Date", c.date)
		if got := x.retryAfter(); got != c.want {
			t.Errorf("%q with the date %q: %v, want %v", c.value, c.date, got, c.want)
		}
	}
}

func TestPlainCode(t *testing.T) {
	for code, want := range map[string]bool{
		"INSUFFICIENT_CREDIT": true, "21610": true, "messaging/invalid": true, "a.b-c:d": true, "": true,
		"15550100009": false, "+15550100009": false, "two words": false, "a\nb": false, "ä": false, strings.Repeat("a", 65): false,
	} {
		if got := plainCode(code); (got == code) != want || got != "" && got != code {
			t.Errorf("%q became %q", code, got)
		}
	}
}
