package pipeline

// Undo is the operation that takes back what a batch put into the register.
const Undo = "undo"

// UndoResult is what an undo took back.
type UndoResult struct {
	Outcome
	Number int `json:"number"` // of the newest snapshot that it covers
}
