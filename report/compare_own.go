package report

// ownError is the error of NCCL's own model.
func (r *ComparedRow) ownError() float64 {
	return float64(r.Predicted.Own-r.Measured.Time) / float64(r.Measured.Time)
}

// both are the errors of our predictions and of NCCL's own model, of the rows that both say something about.
func (c *Comparison) both() (ours, theirs []float64) {
	for i := range c.Rows {
		if r := &c.Rows[i]; r.Predicted.Own > 0 {
			ours, theirs = append(ours, r.Error), append(theirs, r.ownError())
		}
	}
	return ours, theirs
}
