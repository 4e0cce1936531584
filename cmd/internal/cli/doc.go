// Package cli is what the commands of this module share: exit codes, wrong usage, files that
// are written whole, sizes, formats, progress, interrupts.
package cli
