package net

import (
	"fmt"
	"sync/atomic"
	"testing"
)

// window is memory on each side with one signal.
func windows(b *testing.B, ends []*TCP, bytes int) (memory [2][]byte, signals [2]*atomic.Int64) {
	for i, x := range ends {
		memory[i], signals[i] = make([]byte, bytes), new(atomic.Int64)
		if err := x.Register(1-i, 0, memory[i], []*atomic.Int64{signals[i]}); err != nil {
			b.Fatal(err)
		}
	}
	return memory, signals
}

// BenchmarkOneWay is half of what a message takes there and one back, both ends polling.
func BenchmarkOneWay(b *testing.B) {
	for _, size := range []int{8, 64 << 10} {
		for _, sockets := range []int{1, 2, 4} {
			b.Run(fmt.Sprintf("%dB/sockets%d", size, sockets), func(b *testing.B) {
				ends := connected(b, 2, sockets)
				memory, signals := windows(b, ends, size)
				done := make(chan error)
				play := func(i int) error {
					pieces := [][]byte{memory[i]}
					for n := range int64(b.N) {
						for i == 1 && signals[1].Load() <= n {
							if _, err := ends[1].Poll(); err != nil {
								return err
							}
						}
						if err := ends[i].Put(1-i, 0, 0, 0, 1, pieces); err != nil {
							return err
						}
						for i == 0 && signals[0].Load() <= n || ends[i].Backlog() > 0 {
							if _, err := ends[i].Poll(); err != nil {
								return err
							}
						}
					}
					return nil
				}
				b.ReportAllocs()
				b.ResetTimer()
				go func() { done <- play(1) }()
				if err := play(0); err != nil {
					b.Fatal(err)
				}
				if err := <-done; err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2/1e3, "µs/way")
			})
		}
	}
}

// BenchmarkExchange is what it takes until both ends have what the other has put, both putting at once.
func BenchmarkExchange(b *testing.B) {
	for _, size := range []int{8, 1 << 10, 16 << 10} {
		for _, sockets := range []int{1, 2} {
			b.Run(fmt.Sprintf("%dB/sockets%d", size, sockets), func(b *testing.B) {
				ends := connected(b, 2, sockets)
				memory, signals := windows(b, ends, size)
				done := make(chan error)
				play := func(i int) error {
					pieces := [][]byte{make([]byte, len(memory[i]))}
					for n := range int64(b.N) {
						if err := ends[i].Put(1-i, 0, 0, 0, 1, pieces); err != nil {
							return err
						}
						for signals[i].Load() <= n || ends[i].Backlog() > 0 {
							if _, err := ends[i].Poll(); err != nil {
								return err
							}
						}
					}
					return nil
				}
				b.ResetTimer()
				go func() { done <- play(1) }()
				if err := play(0); err != nil {
					b.Fatal(err)
				}
				if err := <-done; err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// BenchmarkBandwidth is messages of 4 MiB, four under way, in one direction.
func BenchmarkBandwidth(b *testing.B) {
	const size, window = 4 << 20, 4
	for _, sockets := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("sockets%d", sockets), func(b *testing.B) {
			ends := connected(b, 2, sockets)
			memory, signals := windows(b, ends, size)
			done := make(chan error)
			b.SetBytes(size)
			b.ResetTimer()
			go func() {
				for n := range int64(b.N) {
					for signals[1].Load() <= n {
						if _, err := ends[1].Poll(); err != nil {
							done <- err
							return
						}
					}
					if err := ends[1].Signal(0, 0, 0, 1); err != nil {
						done <- err
						return
					}
				}
				for ends[1].Backlog() > 0 {
					ends[1].Poll()
				}
				done <- nil
			}()
			pieces := [][]byte{memory[0]}
			for n := range int64(b.N) {
				for signals[0].Load() <= n-window {
					if _, err := ends[0].Poll(); err != nil {
						b.Fatal(err)
					}
				}
				if err := ends[0].Put(1, 0, 0, 0, 1, pieces); err != nil {
					b.Fatal(err)
				}
			}
			for signals[0].Load() < int64(b.N) {
				if _, err := ends[0].Poll(); err != nil {
					b.Fatal(err)
				}
			}
			if err := <-done; err != nil {
				b.Fatal(err)
			}
		})
	}
}
