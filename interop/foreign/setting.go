package foreign

import "strings"

// Setting is an environment variable with the reason for its value.
type Setting struct{ Name, Value, Why string }

// OneLine is a text without line ends, for comments.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Quote is a word for the shell.
func Quote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
