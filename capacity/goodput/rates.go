package goodput

import "railyard/model/failure"

// Cluster is what can fail, and what then happens.
type Cluster struct {
	Parts map[failure.Part]int
	// Slowdown is by how much the job slows down while such a part is missing, where it
	// runs on; parts that are not there stop the job.
	Slowdown map[failure.Part]float64
	Repair   float64 // hours, where the book does not say
}

// Causes are a book's failures in a cluster.
func Causes(b *failure.Book, c Cluster) []Cause {
	var out []Cause
	for _, x := range b.Causes {
		cause := Cause{Name: x.Name, Parts: c.Parts[x.Part], PerDay: x.PerDay, Slowdown: c.Slowdown[x.Part], Repair: x.Repair}
		if cause.Repair == 0 {
			cause.Repair = c.Repair
		}
		out = append(out, cause)
	}
	return out
}

// LlamaRates are the causes of Llama 3's table 5 (the book llama-3) in a cluster.
func LlamaRates(c Cluster) []Cause {
	book, err := failure.Get("llama-3")
	if err != nil {
		panic(err) // part of the program
	}
	return Causes(book, c)
}
