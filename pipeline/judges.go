package pipeline

import "sheetlift/pipeline/finding"

// The rules that stages other than map and dryrun judge by. Two of the inventory's are rules of cells as well.
var (
	inventoryRules = set("file.owner_missing", "file.definition_missing", "sheet.hidden", "cell.formula_no_cache", "cell.error", "cell.stray_quote",
		"column.mixed_types", "consent.constant_column", "row.duplicate", "key.duplicate",
		"sheet.hidden_rows", "sheet.hidden_columns", "sheet.filter_active", "sheet.merged_cells", "sheet.comments", "column.colours_vary",
		"column.formula_decides", "column.numbers_as_text", "column.text_as_numbers", "value.outside_list", "row.sample", "row.totals",
		"sheet.several_tables", "date.all_equal", "date.all_midnight", "date.future", "consent.time_of_export", "file.old_date_system",
		"file.other_program")
	reconcileRules = set("reconcile.differs")
	undoRules      = set("undo.kept")
	wholeRules     = set("record.vanished") // of a column's scope, but known only when all rows are
	cellRules      = set("id.zeros_lost", "id.precision_lost")
)

func set(ids ...string) map[string]bool {
	m := map[string]bool{}
	for _, id := range ids {
		m[id] = true
	}
	return m
}

// Judges reports whether a stage judges by a rule: whether it would have said so if something broke the rule. Map judges columns;
// dryrun judges them again, and the rows.
func Judges(stage string, r finding.Rule) bool {
	switch {
	case reconcileRules[r.ID]:
		return stage == Reconcile
	case undoRules[r.ID]:
		return stage == Undo
	case inventoryRules[r.ID]:
		return stage == Inventory
	case cellRules[r.ID] && stage == Inventory:
		return true
	case stage == Map:
		return r.Scope == finding.Column && !wholeRules[r.ID]
	}
	return stage == DryRun
}
