package pipeline

// CutBlocks makes the stages see at most n rows at once.
func (p *Pipeline) CutBlocks(n int) { p.blockRows = n }
