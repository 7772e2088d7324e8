package mappings

import "unsafe"

// texts makes strings of bytes, many from one allocation. They may be kept, unless they are forgotten.
type texts struct {
	room []byte // what was made lies in it, up to its length
}

const textsRoom = 64 << 10

// of makes a string of p.
func (t *texts) of(p []byte) string {
	if len(p) > textsRoom/4 {
		return string(p)
	}
	if cap(t.room)-len(t.room) < len(p) {
		t.room = make([]byte, 0, textsRoom)
	}
	from := len(t.room)
	t.room = append(t.room, p...)
	return unsafe.String(unsafe.SliceData(t.room[from:]), len(p))
}

// forget takes back the room of what was made. No string of it may be in use any more: it would change.
func (t *texts) forget() { t.room = t.room[:0] }
