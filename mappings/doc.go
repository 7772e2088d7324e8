// Package mappings is the mapping language: a YAML file per source says which sheet, header and rows are read and how cells
// become records of the entities in package importers.
//
// The way of a mapping: Parse checks it by itself and lists every fault; a Profiler reads the sheet once and gathers the
// evidence that single rows can't give (the header's place, the order of day and month, repeated keys); Compile joins both to
// a Plan; Plan.Apply turns blocks of rows into records and findings.
//
// It promises: Apply is pure per block, so results depend on neither block size nor order; a cell is never cut, guessed or
// changed beyond what the mapping declares (identifiers are put into Unicode NFC, dates and numbers into their typed form with
// the original text kept); a blank never becomes an answer; nothing reads the clock or the machine's time zone.
// It refuses what can't be read for sure: an identifier that a spreadsheet has rounded, a date whose order nothing proves, a
// word that the closed list doesn't hold. Faults of rows are findings, faults of the mapping and of the sheet are errors with
// place and remedy; none of them holds a personal value.
package mappings
