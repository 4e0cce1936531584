package sim

import (
	"testing"

	"railyard/model/schedule"
)

// TestReceivesInAnyOrder: connections are used alike on which a program receives between the same of its other operations, in whichever
// order and however often; and not where it receives on one before another operation and on the other behind it.
func TestReceivesInAnyOrder(t *testing.T) {
	recv := func(conn int32) op { return op{kind: schedule.Recv, conn: conn} }
	work := op{kind: schedule.RecvReduce, conn: -1}
	alike := usesIn([]op{recv(0), recv(1), work, recv(1), recv(0), work}, 2)
	if alike[0] != alike[1] {
		t.Errorf("two connections on which a program receives at the same times are told apart: %v", alike)
	}
	for _, ops := range [][]op{{recv(0), work, recv(1), work}, {recv(0), recv(1), work, recv(1), work}, {recv(0), recv(0), recv(1), work}} {
		if uses := usesIn(ops, 2); uses[0] == uses[1] {
			t.Errorf("%v: connections on which a program receives at unlike times are taken for alike", ops)
		}
	}
}
