package units

// GCD is the greatest common divisor of numbers of at least 0; 0 where all are 0.
func GCD[T ~int | ~int32 | ~int64](list ...T) (g T) {
	for _, x := range list {
		for x != 0 {
			g, x = x, g%x
		}
	}
	return g
}
