// Package api is the HTTP door of the ledger: routes, limits, authentication, strict JSON, and the one table
// from errors to answers. It holds no rule about sending.
//
// A request goes through [API.Handler] in this order: host and origin, key, route, role, content type, body,
// fields, and only then a use case of the [Ledger]. Whatever is refused on the way has changed nothing, and
// says so as application/problem+json with one of the codes of docs/problems.md.
package api
