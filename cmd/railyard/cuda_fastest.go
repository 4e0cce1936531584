package main

// readFastest is the way that was fastest in each case of rows measured before, of any type.
func readFastest(name string) (map[sweptKey]variant, error) {
	rows, err := readSwept(name)
	if err != nil {
		return nil, err
	}
	out, us := map[sweptKey]variant{}, map[sweptKey]float64{}
	for _, s := range rows {
		s.key.dtype = ""
		if before, ok := us[s.key]; s.v.algo == ncclAlgo || s.wrong > 0 || ok && before <= s.us {
			continue
		}
		out[s.key], us[s.key] = s.v, s.us
	}
	return out, nil
}
