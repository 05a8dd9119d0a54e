package api

import (
	"fmt"
	"net/http"
)

// The codes of problems, the stable part of every refusal. docs/problems.md has a paragraph for each.
const (
	codeInvalid            = "invalid_request"
	codeUnauthorized       = "unauthorized"
	codeRoleMissing        = "role_missing"
	codeSourceNotAllowed   = "source_not_allowed"
	codeCrossSite          = "cross_site"
	codeNoRoute            = "route_not_found"
	codeNoNotification     = "notification_not_found"
	codeNoProvider         = "provider_not_found"
	codeNoReceipts         = "receipts_not_taken"
	codeUnverified         = "receipts_unverified"
	codeUnsigned           = "receipts_unsigned"
	codeUnreadable         = "receipts_unreadable"
	codeNoPublicURL        = "public_url_missing"
	codeMethod             = "method_not_allowed"
	codeWrongState         = "wrong_state"
	codeContentGone        = "content_gone"
	codeCountDiffers       = "count_differs"
	codeExpiredAlready     = "expired_already"
	codeNeedAccept         = "duplicate_not_accepted"
	codeVersionDiffers     = "version_differs"
	codeTooLarge           = "body_too_large"
	codeMediaType          = "unsupported_media_type"
	codeHostNotAllowed     = "host_not_allowed"
	codeKeyReused          = "dedupe_key_reused"
	codeIfMatch            = "if_match_required"
	codeOverload           = "overload"
	codeInternal           = "internal"
	codeStorageUnavailable = "storage_unavailable"
	codeStorageUnknown     = "storage_unknown"
	codeStorageLow         = "storage_low"
	codeClockBehind        = "clock_behind"
	codeNoChannel          = "channel_not_configured"
	codeDraining           = "draining"
	codeRowMoved           = "row_moved"
	codeInterrupted        = "interrupted"
)

// problemKind is one line of the table: what an answer with this code says. Detail is public and fixed, so
// nothing of an error's own text ever leaves the process.
type problemKind struct {
	code       string
	status     int
	retryAfter int // seconds, of 429 and 503; 0: repeating does not help
	title      string
	detail     string
}

// problemKinds is the table of all codes, in order of status. Nothing writes to it.
var problemKinds = []problemKind{
	{codeInvalid, 400, 0, "The request is not valid", "The request can never succeed as it is; errors names each field and says what is right."},

	{codeUnreadable, 400, 0, "The receipts cannot be read", "The signature is right, and the body is no report in a form of this provider."},

	{codeUnauthorized, 401, 0, "A valid key is needed", "Send one header Authorization: Bearer KEY with a key of this service."},

	{codeRoleMissing, 403, 0, "The key may not do this", "None of the roles of this key allows this request."},
	{codeSourceNotAllowed, 403, 0, "The key is bound to another source", "This key is bound to one source; leave source out or name that one."},
	{codeUnverified, 403, 0, "The receipts are not verified", "The signature, its time or the secret that would prove it is missing or wrong."},
	{codeCrossSite, 403, 0, "Requests of foreign pages are refused", "A browser sent this on behalf of a page of another site."},

	{codeNoRoute, 404, 0, "No such route", "The path is no route of this service."},
	{codeNoNotification, 404, 0, "No such notification", "This key can see no notification with that id."},
	{codeNoProvider, 404, 0, "No such provider", "No provider with that name is configured."},
	{codeNoReceipts, 404, 0, "No receipts are taken here", "No provider of that name is configured whose type posts signed receipts."},

	{codeMethod, 405, 0, "The route does not take this method", "The header Allow lists the methods that it takes."},

	{codeWrongState, 409, 0, "The state does not allow this", "The notification is in the state that state names; allowed lists what can be done in it."},
	{codeContentGone, 409, 0, "The notification was erased", "Only its key, outcome and times are left, and they stay as they are; claim a new event instead."},
	{codeCountDiffers, 409, 0, "Another number of rows matches", "The filter matches the number in matched, not expected_count; nothing was changed."},
	{codeExpiredAlready, 409, 0, "The notification has expired", "Its expires_at has passed; give a later expires_at with the release."},
	{codeNeedAccept, 409, 0, "A duplicate was not accepted", "The first message may have gone out; set accept_duplicate to true to send a second one."},

	{codeVersionDiffers, 412, 0, "The notification has changed", "If-Match names another version than it has now; notification shows it as it is."},

	{codeTooLarge, 413, 0, "The body is too large", "A body has at most 256 KiB, a batch at most 4 MiB with items of at most 256 KiB, a provider's receipts at most 8 MiB."},

	{codeMediaType, 415, 0, "The body is not announced as JSON", "Send Content-Type: application/json, in UTF-8 and without Content-Encoding."},

	{codeHostNotAllowed, 421, 0, "The host name is not served", "Without keys this service answers only to localhost and loopback addresses."},

	{codeKeyReused, 422, 0, "The dedupe key stands for something else", "The key was claimed before with other values; differs names them and notification shows the row that has the key."},

	{codeIfMatch, 428, 0, "If-Match is needed", "Read the notification and send its ETag as If-Match, so that only what you saw is decided."},

	{codeOverload, 429, 1, "Too many writes are waiting", "Nothing was written; repeat the same request."},

	{codeInternal, 500, 0, "The service failed", "This is a fault of the service; repeating the same request is safe."},

	{codeStorageUnavailable, 503, 1, "The ledger cannot write", "The write did not happen; repeat the same request."},
	{codeStorageUnknown, 503, 2, "It is not known whether the ledger wrote", "The write may or may not be there; repeat the same request, that is safe."},
	{codeStorageLow, 503, 30, "The ledger's disk is nearly full", "Nothing was written; repeat the same request once there is space."},
	{codeClockBehind, 503, 30, "The machine's clock is behind the ledger", "Nothing was written, since send_at and expires_at can't be compared now; repeat the same request once the clock is right, or leave both out."},
	{codeNoPublicURL, 503, 60, "The public URL is not configured", "Receipts are taken once public_url says where providers reach this service: their signatures are built on it."},
	{codeUnsigned, 503, 60, "The receipts are not signed", "Nothing was stored; post them again, signed."},
	{codeNoChannel, 503, 60, "The channel has no provider", "Nothing was written; repeat the same request once the channel is configured."},
	{codeDraining, 503, 5, "The service is stopping", "Nothing was written; repeat the same request."},
	{codeRowMoved, 503, 1, "The notification moved meanwhile", "Nothing was written; repeat the same request."},
	{codeInterrupted, 503, 1, "The request was cut short", "The answer was not ready in time; repeat the same request, that is safe."},
}

// kindOf returns the table's line for a code. A code that is not in the table is a programmer's mistake.
func kindOf(code string) problemKind {
	for _, k := range problemKinds {
		if k.code == code {
			return k
		}
	}
	panic("api: no such code: " + code)
}

// explain answers what a code means, for whoever follows the type of a problem.
func (a *API) explain(rq *request) error {
	for _, k := range problemKinds {
		if k.code == rq.Param("code") {
			return rq.String(http.StatusOK, fmt.Sprintf("%s\n\nStatus %d. %s.\n%s\n", k.code, k.status, k.title, k.detail))
		}
	}
	return refuse(codeNoRoute)
}
