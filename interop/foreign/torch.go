package foreign

// torchElements are the bytes of an element of PyTorch's types (c10/core/ScalarType.h).
var torchElements = map[string]int64{"Byte": 1, "Char": 1, "Bool": 1, "Short": 2, "Half": 2, "BFloat16": 2, "Int": 4, "Float": 4, "Long": 8,
	"Double": 8, "ComplexFloat": 8, "ComplexDouble": 16, "Float8_e4m3fn": 1, "Float8_e5m2": 1}

// TorchElement are the bytes of an element of a type as PyTorch names it; 0 where the type is not known.
func TorchElement(name string) int64 { return torchElements[name] }
