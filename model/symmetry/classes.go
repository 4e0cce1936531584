package symmetry

// Classes are things of equal colours, numbered by their first members.
type Classes struct {
	Of    []int32 // member → class
	First []int32 // class → first member
	Size  []int32 // class → how many members
}

// Mix hashes a pair (the finaliser of splitmix64): what colours are made of.
func Mix(a, b uint64) uint64 {
	h := a*0x9E3779B97F4A7C15 ^ b
	h = (h ^ h>>30) * 0xBF58476D1CE4E5B9
	h = (h ^ h>>27) * 0x94D049BB133111EB
	return h ^ h>>31
}

// Number finds the classes of colours.
func Number[T comparable](colours []T) Classes {
	c := Classes{Of: make([]int32, len(colours))}
	seen := map[T]int32{}
	for i, colour := range colours {
		id, ok := seen[colour]
		if !ok {
			id = int32(len(c.First))
			seen[colour] = id
			c.First, c.Size = append(c.First, int32(i)), append(c.Size, 0)
		}
		c.Of[i] = id
		c.Size[id]++
	}
	return c
}

// Numbering gives things numbers from 0 on, in the order in which they come. The zero value has given none.
type Numbering[T comparable] struct {
	All []T // by number
	of  map[T]int
}

// Of is a thing's number: that of the one behind the last where it comes for the first time.
func (n *Numbering[T]) Of(x T) int {
	number, known := n.of[x]
	if !known {
		if n.of == nil {
			n.of = map[T]int{}
		}
		number = len(n.All)
		n.of[x], n.All = number, append(n.All, x)
	}
	return number
}
