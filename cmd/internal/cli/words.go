package cli

import "strings"

// Words are those of a command line, in which quotes of both kinds keep blanks together.
func Words(line string) (out []string) {
	var word strings.Builder
	var quote rune
	inside := false
	for _, c := range line + " " {
		switch {
		case c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, inside = c, true
		case quote == 0 && strings.ContainsRune(" \t\n", c):
			if inside {
				out = append(out, word.String())
			}
			word.Reset()
			inside = false
		default:
			word.WriteRune(c)
			inside = true
		}
	}
	return out
}
