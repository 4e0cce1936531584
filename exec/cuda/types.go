package cuda

import (
	"fmt"

	"railyard/model/collective"
)

// types are the element types of the kernels, as their sources call them.
var types = map[collective.DType]string{collective.Float32: "T_FLOAT32", collective.Float16: "T_FLOAT16", collective.BFloat16: "T_BFLOAT16",
	collective.Int32: "T_INT32", collective.Float8E4M3: "T_E4M3", collective.Float8E5M2: "T_E5M2"}

// Supports refuses element types that the kernels do not have.
func Supports(t collective.DType) error {
	if types[t] == "" {
		return fmt.Errorf("type %v: the kernels have float32, float16, bfloat16, int32, float8_e4m3 and float8_e5m2", t)
	}
	return nil
}
