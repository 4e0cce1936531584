package nccl

// The speeds that the search tries, GB/s per channel, by compute capability.
var (
	speedsIntra      = []float64{40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3}
	speedsInter      = []float64{48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, 0.24, 0.12}
	speedsIntraSM90  = []float64{60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3}
	speedsInterSM90  = []float64{48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12}
	speedsIntraSM100 = []float64{90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18}
	speedsInterSM100 = []float64{96, 86, 80, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12}
)

func speeds(cc int, inter bool) []float64 {
	switch {
	case inter && cc >= 100:
		return speedsInterSM100
	case inter && cc >= 90:
		return speedsInterSM90
	case inter:
		return speedsInter
	case cc >= 100:
		return speedsIntraSM100
	case cc >= 90:
		return speedsIntraSM90
	}
	return speedsIntra
}
