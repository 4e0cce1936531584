package table

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"text/template"
)

// sentences are what documents say, as templates, made when the first document is written; spoken is what they are made of.
var (
	sentences = sync.OnceValue(func() *template.Template {
		t := template.New("").Funcs(unitFuncs()).Funcs(template.FuncMap{"first": func(list any) any { return element(list, 0) },
			"last": func(list any) any { return element(list, reflect.ValueOf(list).Len()-1) }})
		for _, add := range spoken {
			add(t)
		}
		return t
	})
	spoken []func(t *template.Template)
)

// Say adds what documents say in plain words above their tables, as templates that are called like the documents' schemas, and below
// them, called so with " below" behind it. A line is a paragraph. Units are functions, as are the first and the last of a list. It is
// for packages that begin.
func Say(text string, funcs template.FuncMap) {
	spoken = append(spoken, func(t *template.Template) { template.Must(t.Funcs(funcs).Parse(text)) })
}

func unitFuncs() template.FuncMap {
	out := template.FuncMap{}
	for name, u := range unitsByName {
		out[name] = u.text
	}
	return out
}

// element is one of a list, nil where there is none.
func element(list any, i int) any {
	if v := reflect.ValueOf(list); i >= 0 && i < v.Len() {
		return v.Index(i).Addr().Interface()
	}
	return nil
}

// said are a document's paragraphs, above its tables or below them.
func said(doc any, where string) []string {
	t := sentences().Lookup(schemaOf(doc) + where)
	if t == nil {
		return nil
	}
	var b strings.Builder
	if err := t.Execute(&b, doc); err != nil {
		panic(fmt.Sprintf("table: what %T says: %v", doc, err))
	}
	return filled(strings.Split(b.String(), "\n")...)
}
