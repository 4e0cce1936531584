package cuda

// gpusFor is how many GPUs ranks need of which at most share are on each.
func gpusFor(ranks, share int) int { return (ranks + share - 1) / share }

// Room is how many blocks a launch may have on a GPU that holds so many at once. Where ranks share
// it, the others' blocks have to fit too, and those of launches that begin early.
func Room(resident, share int) int {
	if share > 1 {
		return resident / (2 * share)
	}
	return resident
}
