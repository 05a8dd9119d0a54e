//go:build !race

package providers

const raced = false
