package symmetry

// Classes are things of equal colours, numbered by their first members.
type Classes struct {
	Of    []int32 // member → class
	First []int32 // class → first member
	Size  []int32 // class → how many members
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
