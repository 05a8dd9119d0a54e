package providers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Keeps out a message that no comparison ever sees: it waited at Twilio, and left after the time in which it was made. What was made
// later is another comparison's.
func TestList_TwilioWhatLeftLater(t *testing.T) {
	const made, sent = "2026-11-30T09:30:00Z", "2026-11-30T17:00:00Z"
	list, _, err := askListAt(t, twilioLister(), listUntil.Add(30*time.Hour), func(w http.ResponseWriter, r *http.Request) {
		q, rows := r.URL.Query(), []string{}
		if q.Get("DateSent>") <= sent && sent < q.Get("DateSent<") {
			for id, created := range map[string]string{"SM1": "Mon, 30 Nov 2026 09:30:00 +0000", "SM2": "Mon, 30 Nov 2026 10:00:00 +0000"} {
				rows = append(rows, fmt.Sprintf(`{"sid":%q,"to":"+15550100001","status":"sent","direction":"outbound-api","date_created":%q}`, id, created))
			}
		}
		_, _ = fmt.Fprintf(w, `{"messages":[%s]}`, strings.Join(rows, ","))
	})
	if err != nil || len(list) != 1 || list[0].MessageID != "SM1" || list[0].At.Format(time.RFC3339) != made {
		t.Errorf("%v, listed %+v", err, list)
	}
}
