// Package table writes documents. A document is a struct that is declared once, by the
// tags of its fields; the text table, CSV, JSON, Markdown, HTML and the JSON Schema are
// views of that declaration, and Emit writes any of them.
//
// A new column is one line, a field of the row:
//
//	TimeUS float64 `json:"time_us" text:"time" doc:"predicted"`
//
// The tags of a field are
//
//	json   its key, with omitempty where it may be absent
//	text   its heading in the default table; without it only --wide shows it, under its key
//	as     its unit, where the key's end does not say it (see units.go); "signed" where it may be negative
//	doc    its description in the schema
//	join   the text that ties it to the column before it, as in 3.9–4.2 µs or ring/ll
//	zero   what the text says of its zero value
//	yes    what the text says of true, where false is not worth a word
//	digits of a measured number: how many digits CSV has after the point
//	csv    its column in CSV, where that is not the key; on a list: its rows are the lines
//	title  of a list or a group of facts: what is written above it
//	most   of a list: how many rows the default table shows
//	id     of a row's field: it stands before the rows of lists inside the row as well
//	note   of a list of texts: each is written below the tables, with how often it occurs
//	const  of a text: the only value it has, such as the schema's name
//
// A field with json:"-" and a heading is for people only; csv:"+" on a list puts its rows after the others.
// Fields of a document that hold one value are facts, lists of structs are tables, structs
// are groups of facts; what all rows leave empty is not shown. CSV holds one list (or, where
// several are marked, one after the other behind a column "kind"), JSON everything.
//
// What documents say in words, above and below the tables, are templates that are called like their schemas (see Say), or what the
// methods of Answering and Noting say. They may have those of Showing and Lining as well.
package table

// Answering documents say in plain sentences, above the tables, what was asked.
type Answering interface{ Answer() []string }

// Noting documents add lines below the tables.
type Noting interface{ Footer() []string }

// Showing documents decide whether a list or a group is shown without --wide, by its key.
type Showing interface{ Shows(key string) bool }

// Lining documents make the lines of their CSV: a slice of structs with these tags.
type Lining interface{ Lines() any }
