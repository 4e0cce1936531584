// Package yamlfile reads YAML files strictly: unknown keys, keys that appear twice and
// values of the wrong kind are mistakes with file and line, all of them are collected,
// and what could explode (size, depth, aliases) is refused before it is understood.
// A format is declared once, by the tags of its structs' fields (see field), and read and
// written by them.
package yamlfile
