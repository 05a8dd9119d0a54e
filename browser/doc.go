// Package browser drives the console as people do: the real binary on a real file, the misbehaving provider behind it, and a
// headless Chromium in front. It is tests only.
//
// Every tab watches itself: a dialog, a word in the browser's console, a request to another origin, or a report that a page broke
// its policy fails the test, whatever the test was about. Each window has cookies of its own.
package browser
