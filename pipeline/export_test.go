package pipeline

// CutBlocks makes the stages see at most n rows at once.
func (p *Pipeline) CutBlocks(n int) { p.blockRows = n }

// Together makes the survey work on n rows at once.
func (p *Pipeline) Together(n int) { p.together = n }

// DecideLate makes the dry-run decide no row before all are read.
func (p *Pipeline) DecideLate() { p.late = true }

// Spread makes the stages work on several blocks at once, however few rows there are.
func (p *Pipeline) Spread() { p.spread = true }

// CutGroups makes an import commit as soon as it has n rows.
func (p *Pipeline) CutGroups(n int) { p.groupRows = n }

// WholeStates makes a trace work out states from all of the register.
func (p *Pipeline) WholeStates() { p.wholeStates = true }

// Stubborn makes the dry-run of mended rows judge as earlier versions did.
func (p *Pipeline) Stubborn() { p.stubborn = true }

// Unmarked makes the dry-run list no marks of known rows, as earlier versions did.
func (p *Pipeline) Unmarked() { p.unmarked = true }
