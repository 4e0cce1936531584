package workload

import "testing"

// multiplied are the multiplications of products and of fused attention, and what the loss moves.
func multiplied(t *testing.T, steps []Step) (products, attention, loss float64) {
	t.Helper()
	for _, s := range steps {
		switch {
		case s.Do == Product:
			products += s.M * s.N * s.K * max(s.Count, 1)
		case s.Do == Attend:
			attention += s.FLOP / 2
		case s.Name == "loss" || s.Name == "loss backward":
			loss += s.Bytes
		}
	}
	return products, attention, loss
}

// TestMaskedTokensHaveLogits: 76 of 512 tokens cost 76/512 of the head's products, in both passes, of its loss and of its FLOP.
func TestMaskedTokensHaveLogits(t *testing.T) {
	part := func(set ...string) (out [5]float64) {
		w, err := Get("bert-large", append(set, "transformer.sequence=512")...)
		if err != nil {
			t.Fatal(err)
		}
		list := w.Blocks()
		last := list[len(list)-1]
		one := Sharding{Tensor: 1, Context: 1, Expert: 1}
		out[0], _, out[1] = multiplied(t, last.Forward(one, 8))
		out[2], _, out[3] = multiplied(t, last.Backward(one, 8))
		out[4] = last.FLOP()
		return out
	}
	all, some := part(), part("transformer.masked_tokens=76")
	for i := range all {
		if some[i] != all[i]*76/512 {
			t.Errorf("%d: %g of %g", i, some[i], all[i])
		}
	}
	if _, err := Get("bert-large", "transformer.masked_tokens=513", "transformer.sequence=512"); err == nil {
		t.Error("more masked tokens than tokens")
	}
}

// TestLatentHeadsAreAsWideUnfused: fused and not, attention multiplies the same where keys are wider than values.
func TestLatentHeadsAreAsWideUnfused(t *testing.T) {
	of := func(set ...string) float64 {
		w, err := Get("deepseek-v3", append(set, "transformer.causal=false")...)
		if err != nil {
			t.Fatal(err)
		}
		products, attention, _ := multiplied(t, w.Blocks()[1].Forward(Sharding{Tensor: 2, Context: 1, Expert: 1}, 1))
		return products + attention
	}
	if fused, apart := of(), of("transformer.fused_attention=false"); fused != apart {
		t.Errorf("%g multiplications, %g in products of their own", fused, apart)
	}
}
