package cuda

// MaxBlocks is how many blocks a launch may have on a GPU that holds so many at once. Where ranks share
// it, the others' blocks have to fit too, and those of launches that begin early.
func MaxBlocks(resident, share int) int {
	if share > 1 {
		return resident / (2 * share)
	}
	return resident
}
