// Package console is the pages for people: what was attempted, what waits for a decision, and the decisions themselves. It has
// the API's use cases and no query of its own.
//
// A page is one line in the table of routes, a handler in page_NAME.go, and templates/NAME.html, which defines "content" (and
// "head" where it needs more than the layout loads). A handler gets a visit: who asks, and how to answer. It returns an error
// where the page has nothing better to show; the table in refusal.go makes a page of it.
//
// What an address or a form says is read in one place, by the names that its route takes (query.go); everything else is refused.
//
// Everything can be read and done without JavaScript: forms are posted and answered with 303. htmx then replaces parts of pages,
// and streams say when something changed. What callers sent is shown through the "text" template, which isolates it, makes control
// characters visible and folds what is long. State is never told by colour alone.
package console
