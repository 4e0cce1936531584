package symmetry

// Digit is a digit of a number in mixed radix: x/Stride%Size. It moves by addition modulo its
// size or, where Xor is set, by exclusive or.
type Digit struct {
	Size, Stride int32
	Xor          bool
}

// Of is the digit of a number.
func (d Digit) Of(x int32) int32 { return x / d.Stride % d.Size }

// Add moves the digit in a number by n, which is less than the size.
func (d Digit) Add(x, n int32) int32 {
	old := d.Of(x)
	if d.Xor {
		return x + (old^n-old)*d.Stride
	}
	if old+n >= d.Size {
		n -= d.Size
	}
	return x + n*d.Stride
}

// inverse is how far the digit moves back.
func (d Digit) inverse(n int32) int32 {
	if d.Xor {
		return n
	}
	return (d.Size - n) % d.Size
}

// Digits are a group of moves of numbers, each written as a number with the digits that it
// adds. None but the move by 0 leaves a number where it is; numbers whose digits are 0, the
// originals, stand for all.
type Digits []Digit

// Radix are the digits of numbers below the product of sizes, the last one fastest.
func Radix(sizes []int32) Digits {
	out, stride := make(Digits, len(sizes)), int32(1)
	for i := len(sizes) - 1; i >= 0; i-- {
		out[i] = Digit{Size: sizes[i], Stride: stride}
		stride *= sizes[i]
	}
	return out
}

// By is the move that brings a number's original to it.
func (g Digits) By(x int32) int32 {
	by := int32(0)
	for _, d := range g {
		by += d.Of(x) * d.Stride
	}
	return by
}

// Inverse is the move back.
func (g Digits) Inverse(by int32) int32 {
	out := int32(0)
	for _, d := range g {
		out += d.inverse(d.Of(by)) * d.Stride
	}
	return out
}

// Move is where a move brings a number.
func (g Digits) Move(x, by int32) int32 {
	for _, d := range g {
		if n := d.Of(by); n != 0 {
			x = d.Add(x, n)
		}
	}
	return x
}

// Count is the number of moves, the one by 0 included.
func (g Digits) Count() int {
	n := 1
	for _, d := range g {
		n *= int(d.Size)
	}
	return n
}

// All are the moves.
func (g Digits) All() []int32 {
	out := []int32{0}
	for _, d := range g {
		for _, by := range out[:len(out):len(out)] {
			for n := int32(1); n < d.Size; n++ {
				out = append(out, by+n*d.Stride)
			}
		}
	}
	return out
}

// Generators are moves that generate a digit's: by 1, or by each power of two.
func (d Digit) Generators() (by []int32) {
	for n := int32(1); n < d.Size && (n == 1 || d.Xor); n *= 2 {
		by = append(by, n*d.Stride)
	}
	return by
}

// Orbit is a number's original, and the number of moves.
func (g Digits) Orbit(p int) (first, size int) {
	return p - int(g.By(int32(p))), g.Count()
}

// Pair is where b comes when a comes to its original.
func (g Digits) Pair(a, b int) (to, count int) {
	return int(g.Move(int32(b), g.Inverse(g.By(int32(a))))), 1
}

// Generators are the least moves of all digits.
func (g Digits) Generators() (out []func(int) int) {
	for _, d := range g {
		for _, by := range d.Generators() {
			out = append(out, func(p int) int { return int(d.Add(int32(p), by/d.Stride)) })
		}
	}
	return out
}
