package nccl

import "fmt"

// Unsupported is the error of machines that NCCL does not run on, and of what it does not run or is not modelled to.
type Unsupported struct{ Why error }

func (e Unsupported) Error() string { return e.Why.Error() }
func (e Unsupported) Unwrap() error { return e.Why }

func unsupported(format string, args ...any) error { return Unsupported{fmt.Errorf(format, args...)} }
