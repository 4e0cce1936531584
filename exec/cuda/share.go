package cuda

import "errors"

// ErrRoom is the error of a launch whose blocks do not all fit on a GPU at once.
var ErrRoom = errors.New("the schedule needs too many blocks")

// MaxBlocks is how many blocks a launch may have on a GPU that holds so many at once. Where ranks share
// it, the others' blocks have to fit too, and those of launches that begin early.
func MaxBlocks(resident, share int) int {
	if share > 1 {
		return resident / (2 * share)
	}
	return resident
}
