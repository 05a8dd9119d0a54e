// Package terminal is what a person sees: tables, colours, bars and pages that redraw themselves, as wide as the terminal is.
//
// Where there is no terminal nothing is cut, left out or coloured, so that a file or a pipe gets the same text on every machine.
// No text that comes from outside can steer a terminal: each cell goes through Clean.
package terminal
