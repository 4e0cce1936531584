package cluster

import (
	"context"
	"encoding/json"
	"fmt"
)

// Tell gives every process what all have, by an exchange of messages such as Group.Exchange.
func Tell[V any](ctx context.Context, exchange func(context.Context, []byte) ([][]byte, error), mine V) ([]V, error) {
	text, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	all, err := exchange(ctx, text)
	if err != nil {
		return nil, err
	}
	out := make([]V, len(all))
	for i, text := range all {
		if err := json.Unmarshal(text, &out[i]); err != nil {
			return nil, fmt.Errorf("message of process %d: %w", i, err)
		}
	}
	return out, nil
}
