//go:build cgo

package driver

import "fmt"

// Choose loads the driver and takes the first count GPUs; 0 takes all. It may be called
// from any thread.
func Choose(count int) ([]Device, error) {
	if err := Load(); err != nil {
		return nil, err
	}
	found, err := Devices()
	switch {
	case err != nil:
		return nil, err
	case found == 0:
		return nil, fmt.Errorf("the driver shows no GPU")
	case count == 0:
		count = found
	case count > found:
		return nil, fmt.Errorf("%d GPUs asked for, the driver shows %d", count, found)
	}
	out := make([]Device, count)
	for i := range out {
		out[i] = Device(i)
	}
	return out, nil
}
