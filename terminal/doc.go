// Package terminal is what a person sees: tables, colours, bars and pages that redraw themselves, as wide as the terminal is.
//
// Where there is no terminal nothing is cut, left out or coloured, so that a file or a pipe gets the same text on every machine.
// On a terminal a list that is too wide leaves columns out and says which; a row's history becomes blocks and loses nothing.
//
// No text that comes from outside can steer a terminal: each cell goes through Clean, and JSON through EscapeJSON. Letters that run
// from right to left end with a mark, so that a terminal which orders letters carries no other cell along.
package terminal
