package schedule

// queue are the messages on a connection, oldest first.
type queue struct {
	messages []message
	taken    int
}

// queue is that of a connection.
func (k *checker) queue(c key) *queue {
	q := k.queues[c]
	if q == nil {
		q = new(queue)
		k.queues[c] = q
	}
	return q
}

func (q *queue) empty() bool { return q == nil || q.taken == len(q.messages) }

func (q *queue) first() *message { return &q.messages[q.taken] }

func (q *queue) last() *message { return &q.messages[len(q.messages)-1] }

func (q *queue) add(m message) { q.messages = append(q.messages, m) }

func (q *queue) take() message {
	m := q.messages[q.taken]
	q.messages[q.taken] = message{}
	if q.taken++; q.taken == len(q.messages) {
		q.messages, q.taken = q.messages[:0], 0
	}
	return m
}
