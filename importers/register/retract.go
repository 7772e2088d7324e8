package register

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/pipeline/store"
)

// Retracted separates, in the provenance of a retracted record, the snapshot that it came with from the undo that took it back.
const Retracted = "~undone-"

// What ends the snapshot of undone provenance while its record is still held: that batch no longer stands for the record, but some of the
// versions are what it wrote. Both endings go with the record.
const (
	Left   = "~left"   // the undo kept the record
	Passed = "~passed" // the undo kept the record, as another batch's that has it as it is
)

// retractRows is how many records one transaction takes back at most.
const retractRows = 4096

// live is the condition on a provenance row that its record was not retracted.
const live = `snapshot NOT LIKE '%` + Retracted + `%'`

// left is the condition on a provenance row that it was undone and its record kept.
const left = `snapshot LIKE '%` + Left + `'`

// passed is the condition on a provenance row that it was undone and its record left to another batch.
const passed = `snapshot LIKE '%` + Passed + `'`

// RetractPass is one walk of an undo: the records of an entity, or those of them whose column Cond is about (status = 'given').
type RetractPass struct {
	Entity *importers.Entity
	Cond   string
}

// RetractOrder is the order in which an undo walks: consents before what stands against them, what is given before what was refused
// or withdrawn, configuration last. So at no moment is something granted that was not before.
func RetractOrder() []RetractPass {
	var list []RetractPass
	for i := range importers.Entities {
		e := &importers.Entities[i]
		list = append(list, RetractPass{Entity: e})
		if e.Event {
			list = append(list, RetractPass{Entity: e, Cond: `status = 'given'`})
		}
	}
	slices.Reverse(list)
	return list
}

// NextRetract gives the last id of the next chunk of a pass after that id, "" if there is none.
func NextRetract(ctx context.Context, tx *store.Tx, pass RetractPass, after string, o Origin) (string, error) {
	var last *string
	err := tx.QueryRow(ctx, `
		SELECT MAX(id)
		FROM (
			SELECT DISTINCT id
			FROM provenance
			WHERE tenant = $1 AND batch = $2 AND entity = $3 AND id > $4 AND `+live+`
			ORDER BY id
			LIMIT `+fmt.Sprint(retractRows)+`
		) chunk`, o.Tenant, o.Batch, pass.Entity.Name, after).Scan(&last)
	if err != nil {
		return "", fmt.Errorf("read provenance: %w", err)
	}
	if last == nil {
		return "", nil
	}
	return *last, nil
}

// The version that provenance rows o of one batch lead to: that which it found in the register, and one more for each that it brought.
const leadsTo = `SUM(CASE WHEN o.vouched = 0 THEN 1 ELSE o.vouched END)`

// Conditions on the record r of a provenance table, each with the batch as $2. What this batch corrected itself, with a later snapshot,
// has a provenance row for each of its versions.
const (
	unchanged = `r.version = (SELECT ` + leadsTo + ` FROM provenance o WHERE o.id = r.id AND o.batch = $2 AND o.` + live + `)`
	shared    = `EXISTS (SELECT 1 FROM provenance o WHERE o.id = r.id AND o.batch <> $2 AND o.` + live + `)`
	brought   = `EXISTS (SELECT 1 FROM provenance o WHERE o.id = r.id AND o.batch = $2 AND o.entity = $3 AND o.` + live + `)`

	// another batch stands for just what the register holds
	upheld = `EXISTS (
		SELECT 1 FROM provenance o WHERE o.id = r.id AND o.batch <> $2 AND o.` + live + `
		GROUP BY o.batch HAVING ` + leadsTo + ` = r.version)`

	// batches wrote all versions of the record, whether they still stand for it or were undone: nobody else corrected it
	written = `r.version = (
		SELECT COUNT(*) FROM provenance o
		WHERE o.id = r.id AND o.vouched = 0 AND (o.` + live + ` OR o.` + left + ` OR o.` + passed + `))`

	wasLeft  = `EXISTS (SELECT 1 FROM provenance o WHERE o.id = r.id AND o.` + left + `)`
	standing = `EXISTS (SELECT 1 FROM provenance o WHERE o.id = r.id AND o.` + live + `)`
)

// inChunk bounds what conditions ask of provenance to the ids of a chunk, $4 and $5. Each is about one of them, but PostgreSQL joins all of the
// provenance to a chunk's records where nothing says so: then an undo takes the square of its records.
func inChunk(cond string) string {
	return strings.ReplaceAll(cond, `o.id = r.id`, `o.id = r.id AND o.id > $4 AND o.id <= $5`)
}

// inUse is the condition on a record r of a configuration that another record of the register points to it.
func inUse(e *importers.Entity) string {
	if !e.Config {
		return `1 = 0`
	}
	var any []string
	for i := range importers.Entities {
		user := &importers.Entities[i]
		for _, table := range user.Tables {
			for k := range user.Fields {
				if user.Fields[k].Ref == e.Name {
					any = append(any, `EXISTS (SELECT 1 FROM `+table+` u WHERE u.tenant = r.tenant AND u.`+user.Fields[k].Name+` = r.`+e.Fields[0].Name+`)`)
				}
			}
			if e.Name == "notice" && user.Event {
				any = append(any, `EXISTS (
					SELECT 1 FROM `+table+` u
					WHERE u.tenant = r.tenant AND (u.notice_id = r.notice_id AND u.notice_version = r.notice_version OR u.notice_digest = r.wording_digest))`)
			}
		}
	}
	if any == nil {
		return `1 = 0`
	}
	return `(` + strings.Join(any, ` OR `) + `)`
}

// RetractChunk takes the batch's records with ids after one and up to another out of the register, but for those that somebody else
// corrected since, those that another batch has as well, and configuration that a record which stays points to. Their
// provenance stays, its snapshot marked; an event says how many there were; the id map is append-only and keeps its rows. It
// returns how many it took out. Whom they named stays with what rows of other batches said about them by their key (see keepMeant).
//
// A record that another batch has as the register holds it is from now on that batch's alone: the provenance of this one is marked, with
// an event of its own. Whatever else is kept is no longer this batch's either, and its provenance is marked as left: when the last batch
// that has the record is undone, it goes with that one, unless somebody corrected it who is no batch.
func RetractChunk(ctx context.Context, tx *store.Tx, pass RetractPass, after, last, mark string, o Origin) (int64, error) {
	e := pass.Entity
	cond := ""
	if pass.Cond != "" {
		cond = ` AND r.` + pass.Cond
	}
	goes := `r.tenant = $1 AND r.id > $4 AND r.id <= $5` + cond +
		inChunk(` AND (`+unchanged+` AND NOT `+wasLeft+` OR `+written+`) AND `+brought+` AND NOT `+shared) + ` AND NOT ` + inUse(e)
	args := []any{o.Tenant, o.Batch, e.Name, after, last}
	if err := keepMeant(ctx, tx, e, goes, args, o); err != nil {
		return 0, err
	}
	var n int64
	for _, table := range e.Tables {
		gone, err := tx.Exec(ctx, `
			DELETE FROM `+table+`
			WHERE id IN (
				SELECT r.id
				FROM `+table+` r
				WHERE `+goes+`)`, args...)
		if err != nil {
			return 0, fmt.Errorf("retract from %s: %w", table, err)
		}
		n += gone
	}
	held := ""
	for _, table := range e.Tables {
		held += ` AND NOT EXISTS (SELECT 1 FROM ` + table + ` r WHERE r.id = provenance.id)`
	}
	if err := markRetracted(ctx, tx, held, e, after, last, mark, o); err != nil {
		return 0, err
	}
	if n > 0 {
		if err := forgetLeft(ctx, tx, e, after, last, o); err != nil {
			return 0, err
		}
	}
	var handed int64
	for _, table := range e.Tables {
		k, err := passOn(ctx, tx, e, table, cond, after, last, mark, o)
		if err != nil {
			return 0, err
		}
		handed += k
	}
	if pass.Cond == "" { // the last of its passes
		if err := markRetracted(ctx, tx, "", e, after, last, mark+Left, o); err != nil {
			return 0, err
		}
	}
	if n > 0 {
		if err := recordChange(ctx, tx, "retract", e.Name, n, o); err != nil {
			return 0, err
		}
	}
	if handed > 0 {
		if err := recordChange(ctx, tx, "retract", e.Name+provenancePart, handed, o); err != nil {
			return 0, err
		}
	}
	if n+handed == 0 {
		return 0, nil
	}
	return n, advance(ctx, tx, o)
}

// provenancePart is what an event adds to the name of an entity if not its records were retracted, but their provenance.
const provenancePart = ".provenance"

// markRetracted marks the live provenance of the batch between two ids that a further condition lets through.
func markRetracted(ctx context.Context, tx *store.Tx, cond string, e *importers.Entity, after, last, mark string, o Origin) error {
	if _, err := tx.Exec(ctx, `
		UPDATE provenance SET snapshot = snapshot || $6
		WHERE tenant = $1 AND batch = $2 AND entity = $3 AND id > $4 AND id <= $5 AND `+live+cond,
		o.Tenant, o.Batch, e.Name, after, last, mark); err != nil {
		return fmt.Errorf("mark provenance: %w", err)
	}
	return nil
}

// passOn leaves records to the batches that have them as the register holds them. It returns how many.
func passOn(ctx context.Context, tx *store.Tx, e *importers.Entity, table, cond, after, last, mark string, o Origin) (n int64, err error) {
	rows, err := tx.Query(ctx, `
		UPDATE provenance SET snapshot = snapshot || $6
		WHERE tenant = $1 AND batch = $2 AND entity = $3 AND id > $4 AND id <= $5 AND `+live+`
			AND id IN (SELECT r.id FROM `+table+` r WHERE r.tenant = $1 AND r.id > $4 AND r.id <= $5`+cond+inChunk(` AND `+brought+` AND `+upheld)+`)
		RETURNING id`,
		o.Tenant, o.Batch, e.Name, after, last, mark+Passed)
	if err != nil {
		return 0, fmt.Errorf("pass on records of %s: %w", table, err)
	}
	defer rows.Close()
	passed := map[string]bool{} // a record may have several rows
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return 0, fmt.Errorf("pass on records of %s: %w", table, err)
		}
		passed[id] = true
	}
	if err := rows.Err(); err != nil {
		return 0, fmt.Errorf("pass on records of %s: %w", table, err)
	}
	return int64(len(passed)), nil
}

// forgetLeft marks what batches left of records that are gone as undone and no more: a record that comes back is not theirs.
func forgetLeft(ctx context.Context, tx *store.Tx, e *importers.Entity, after, last string, o Origin) error {
	held := ""
	for _, table := range e.Tables {
		held += ` AND NOT EXISTS (SELECT 1 FROM ` + table + ` r WHERE r.id = provenance.id)`
	}
	if _, err := tx.Exec(ctx, `
		UPDATE provenance SET snapshot = REPLACE(REPLACE(snapshot, '`+Left+`', ''), '`+Passed+`', '')
		WHERE tenant = $1 AND entity = $2 AND id > $3 AND id <= $4 AND (`+left+` OR `+passed+`)`+held,
		o.Tenant, e.Name, after, last); err != nil {
		return fmt.Errorf("mark provenance: %w", err)
	}
	return nil
}

// RetractAbandoned takes out the configuration that undos left because a record pointed to it, once none does and no batch has it. It
// returns how many it took out.
func RetractAbandoned(ctx context.Context, tx *store.Tx, o Origin) (all int64, err error) {
	for _, pass := range RetractOrder() {
		e := pass.Entity
		if !e.Config || pass.Cond != "" {
			continue
		}
		for _, table := range e.Tables {
			var last *string
			if err := tx.QueryRow(ctx, `SELECT MAX(id) FROM `+table+` WHERE tenant = $1`, o.Tenant).Scan(&last); err != nil {
				return 0, fmt.Errorf("retract from %s: %w", table, err)
			}
			if last == nil {
				continue
			}
			n, err := tx.Exec(ctx, `
				DELETE FROM `+table+`
				WHERE id IN (SELECT r.id FROM `+table+` r WHERE r.tenant = $1 AND `+wasLeft+` AND `+written+` AND NOT `+standing+` AND NOT `+inUse(e)+`)`, o.Tenant)
			if err != nil {
				return 0, fmt.Errorf("retract from %s: %w", table, err)
			}
			if n == 0 {
				continue
			}
			if err := forgetLeft(ctx, tx, e, "", *last, o); err != nil {
				return 0, err
			}
			if err := recordChange(ctx, tx, "retract", e.Name, n, o); err != nil {
				return 0, err
			}
			all += n
		}
	}
	if all == 0 {
		return 0, nil
	}
	return all, advance(ctx, tx, o)
}

// RetractedBy counts, by entity, the records that an operation retracted.
func RetractedBy(ctx context.Context, tx *store.Tx, operation string) (map[string]int64, error) {
	rows, err := tx.Query(ctx, `
		SELECT entity, CAST(SUM(records) AS BIGINT)
		FROM events
		WHERE operation = $1 AND kind = 'retract'
		GROUP BY entity`, operation)
	if err != nil {
		return nil, fmt.Errorf("count retractions: %w", err)
	}
	defer rows.Close()
	out := map[string]int64{}
	for rows.Next() {
		var entity string
		var n int64
		if err := rows.Scan(&entity, &n); err != nil {
			return nil, fmt.Errorf("count retractions: %w", err)
		}
		out[entity] = n
	}
	return out, rows.Err()
}

// AnyLeft reports whether undos left a record of the tenant in the register that is no other batch's as it is.
func AnyLeft(ctx context.Context, tx *store.Tx, tenant string) (bool, error) {
	var n int64
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM (SELECT 1 FROM provenance WHERE tenant = $1 AND `+left+` LIMIT 1) found`, tenant).Scan(&n); err != nil {
		return false, fmt.Errorf("read provenance: %w", err)
	}
	return n > 0, nil
}

// KeptBecause is why a retraction left a record.
type KeptBecause int

// Why a retraction leaves a record: the first that holds.
const (
	KeptShared   KeptBecause = iota // another batch has it as well, and it was corrected since
	KeptChanged                     // somebody else corrected it since
	KeptInUse                       // configuration that a record which stays points to
	KeptPassedOn                    // it is another batch's now
)

// Kept is a record that a retraction left in the register, at its first place.
type Kept struct {
	Snapshot, Source, Sheet string
	Row, Line               int64
	Why                     KeptBecause
	By                      string // passed on: a batch that has it
	Vouched                 bool   // passed on: the batch itself had only found it in the register
}

// EachKept calls f for each record of the entity that the retraction with that mark left in the register and to no other batch, once.
func EachKept(ctx context.Context, tx *store.Tx, e *importers.Entity, tenant, batch, mark string, f func(Kept) error) error {
	var why int64
	columns := `CASE WHEN ` + shared + ` THEN 0 WHEN NOT ` + written + ` THEN 1 ELSE 2 END`
	args := []any{tenant, batch, e.Name, mark + Left}
	var n int64
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM (SELECT 1 FROM provenance p WHERE `+endsSo+` LIMIT 1) found`, args...).Scan(&n); err != nil {
		return fmt.Errorf("read what an undo left of %s: %w", e.Name, err)
	}
	if n == 0 { // mostly: then there is no need to look for each of its tables
		return nil
	}
	for _, table := range e.Tables {
		err := eachLeft(ctx, tx, e, ` JOIN `+table+` r ON r.id = p.id`, args, columns, []any{&why}, func(k Kept) error {
			k.Why = KeptBecause(why)
			return f(k)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// EachPassedOn calls f for each record of the entity that the retraction with that mark left to other batches, once.
func EachPassedOn(ctx context.Context, tx *store.Tx, e *importers.Entity, tenant, batch, mark string, f func(Kept) error) error {
	var vouched int64
	var by *string
	columns := `(SELECT MIN(o.vouched) FROM provenance o WHERE o.id = p.id AND o.batch = $2 AND o.snapshot LIKE '%' || $4),
		(SELECT MIN(o.batch) FROM provenance o WHERE o.id = p.id AND o.batch <> $2 AND o.` + live + `)`
	// The record is held, or the ending would have gone with it.
	return eachLeft(ctx, tx, e, "", []any{tenant, batch, e.Name, mark + Passed}, columns, []any{&vouched, &by}, func(k Kept) error {
		if by == nil { // brought anew since
			return nil
		}
		k.Why, k.By, k.Vouched = KeptPassedOn, *by, vouched > 0
		return f(k)
	})
}

// endsSo is the condition on provenance p of a batch that its snapshot ends in some way: $1 to $4 are tenant, batch, entity and ending.
const endsSo = `p.tenant = $1 AND p.batch = $2 AND p.entity = $3 AND p.snapshot LIKE '%' || $4`

// eachLeft calls f for each record of the entity that a batch has undone provenance of, once, at its first place. args are those of endsSo; join
// may add the record r, and more takes what columns give, which may be of r and of p.
func eachLeft(ctx context.Context, tx *store.Tx, e *importers.Entity, join string, args []any, columns string, more []any, f func(Kept) error) error {
	fault := func(err error) error { return fmt.Errorf("read what an undo left of %s: %w", e.Name, err) }
	rows, err := tx.Query(ctx, `
		SELECT p.id, p.snapshot, p.source, p.sheet, p.row, p.line, `+columns+`
		FROM provenance p`+join+`
		WHERE `+endsSo+`
		ORDER BY p.source, p.row, p.id, p.obtained_at`, args...)
	if err != nil {
		return fault(err)
	}
	defer rows.Close()
	told := map[string]bool{}
	for rows.Next() {
		var id string
		var k Kept
		if err := rows.Scan(append([]any{&id, &k.Snapshot, &k.Source, &k.Sheet, &k.Row, &k.Line}, more...)...); err != nil {
			return fault(err)
		}
		if told[id] {
			continue
		}
		told[id] = true
		k.Snapshot, _, _ = strings.Cut(k.Snapshot, Retracted)
		if err := f(k); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fault(err)
	}
	return nil
}

// retractedBefore reports whether anything of the tenant was ever retracted: then the id map may know keys of records that are gone.
func retractedBefore(ctx context.Context, tx *store.Tx, tenant string) (bool, error) {
	var n int64
	err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM events WHERE tenant = $1 AND kind = 'retract'`, tenant).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("look for retractions: %w", err)
	}
	return n > 0, nil
}
