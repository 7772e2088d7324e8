package register

import (
	"context"
	"fmt"
	"strings"

	"sheetlift/importers"
	"sheetlift/pipeline/store"
)

// Revision is the sum of the revisions that batches other than this one have made: import compares it with what the dry-run saw.
func Revision(ctx context.Context, tx *store.Tx, tenant, batch string) (int64, error) {
	var n int64
	err := tx.QueryRow(ctx, `
		SELECT CAST(COALESCE(SUM(revision), 0) AS BIGINT)
		FROM revisions
		WHERE tenant = $1 AND batch <> $2`, tenant, batch).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("read the register's revision: %w", err)
	}
	return n, nil
}

// OwnRevision is the number of changes that this batch itself has made.
func OwnRevision(ctx context.Context, tx *store.Tx, tenant, batch string) (int64, error) {
	var n int64
	err := tx.QueryRow(ctx, `
		SELECT CAST(COALESCE(SUM(revision), 0) AS BIGINT)
		FROM revisions
		WHERE tenant = $1 AND batch = $2`, tenant, batch).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("read the batch's revision: %w", err)
	}
	return n, nil
}

// Held is what the register knows of a key: the ids of its contents. Missing is that of a consent.
type Held struct {
	ID, RecordID, ContentDigest string
	Version                     int64
	Missing                     string
}

// EachHeld calls f for each record of the entity from the source system.
func EachHeld(ctx context.Context, tx *store.Tx, e *importers.Entity, tenant, system string, f func(Held) error) error {
	recordID, missing := "id", "''"
	if e.Event {
		recordID, missing = "record_id", "COALESCE(missing, '')"
	}
	for _, table := range e.Tables {
		rows, err := tx.Query(ctx, `SELECT id, `+recordID+`, content_digest, version, `+missing+` FROM `+table+` WHERE tenant = $1 AND system = $2`, tenant, system)
		if err != nil {
			return fmt.Errorf("read %s: %w", table, err)
		}
		for rows.Next() {
			var h Held
			if err := rows.Scan(&h.ID, &h.RecordID, &h.ContentDigest, &h.Version, &h.Missing); err != nil {
				rows.Close()
				return fmt.Errorf("read %s: %w", table, err)
			}
			if err := f(h); err != nil {
				rows.Close()
				return err
			}
		}
		rows.Close()
		if err := rows.Err(); err != nil {
			return fmt.Errorf("read %s: %w", table, err)
		}
	}
	return nil
}

// Stored is one record as the register holds it.
type Stored struct {
	importers.Record
	ID, RecordID, System string
	ContentDigest        string
	Version              int64
	Class                string            // consent: receipt or legacy_assertion
	Derived              map[string]string // derived columns that are set, integers in decimal
}

// Filter narrows Each.
type Filter struct {
	ID       string   // this record, or the events of this record id
	IDs      []string // these records; at most MaxIDs
	Statuses []string
	Cond     string // further SQL condition on the table's columns, with $-numbers from FirstArg
	Args     []any
}

// MaxIDs is how many records Filter.IDs may name: databases bound the arguments of a statement.
const MaxIDs = 500

// where gives the condition on a table's columns, with its arguments.
func (f *Filter) where(e *importers.Entity, tenant string) (cond string, args []any) {
	cond, args = "tenant = $1", []any{tenant}
	if f.Cond != "" {
		cond += " AND (" + f.Cond + ")"
		args = append(args, f.Args...)
	}
	in := func(column string, list []string) {
		var marks []string
		for _, s := range list {
			args = append(args, s)
			marks = append(marks, fmt.Sprintf("$%d", len(args)))
		}
		cond += " AND " + column + " IN (" + strings.Join(marks, ", ") + ")"
	}
	if f.ID != "" {
		args = append(args, f.ID)
		if n := len(args); e.Event {
			cond += fmt.Sprintf(" AND (id = $%d OR record_id = $%d)", n, n)
		} else {
			cond += fmt.Sprintf(" AND id = $%d", n)
		}
	}
	if len(f.IDs) > 0 {
		in("id", f.IDs)
	}
	if len(f.Statuses) > 0 {
		in("status", f.Statuses)
	}
	return cond, args
}

// FirstArg is the number of the first placeholder in Filter.Cond.
const FirstArg = 2

// Each calls f for each record of the entity that the filter lets through.
func Each(ctx context.Context, tx *store.Tx, e *importers.Entity, tenant string, filter Filter, f func(*Stored) error) error {
	for _, table := range e.Tables {
		cond, args := filter.where(e, tenant)
		if err := eachOf(ctx, tx, e, table, cond, args, f); err != nil {
			return fmt.Errorf("read %s: %w", table, err)
		}
	}
	return nil
}

func eachOf(ctx context.Context, tx *store.Tx, e *importers.Entity, table, cond string, args []any, f func(*Stored) error) error {
	names := tableColumns(e)
	rows, err := tx.Query(ctx, `SELECT `+strings.Join(names, ", ")+` FROM `+table+` WHERE `+cond, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	scan := newScan(e)
	for rows.Next() {
		if err := rows.Scan(scan.dest...); err != nil {
			return err
		}
		st := scan.stored(e, table)
		if err := f(st); err != nil {
			return err
		}
	}
	return rows.Err()
}

// scan holds one row of an entity table while it is turned into a Stored.
type scan struct {
	dest  []any
	heads map[string]*string
	ver   int64
	texts map[int]**string
	ints  map[int]**int64
}

func newScan(e *importers.Entity) *scan {
	s := &scan{heads: map[string]*string{}, texts: map[int]**string{}, ints: map[int]**int64{}}
	for _, n := range head(e) {
		if n == "version" {
			s.dest = append(s.dest, &s.ver)
			continue
		}
		p := new(string)
		s.heads[n] = p
		s.dest = append(s.dest, p)
	}
	for i, c := range own(e) {
		if c.Storage == importers.AsInt {
			p := new(*int64)
			s.ints[i] = p
			s.dest = append(s.dest, p)
			continue
		}
		p := new(*string)
		s.texts[i] = p
		s.dest = append(s.dest, p)
	}
	return s
}

func (s *scan) stored(e *importers.Entity, table string) *Stored {
	st := &Stored{
		Record: importers.NewRecord(e),
		ID:     *s.heads["id"], RecordID: *s.heads["id"], System: *s.heads["system"],
		ContentDigest: *s.heads["content_digest"], Version: s.ver,
		Derived: map[string]string{},
	}
	st.Key = *s.heads["external_key"]
	if e.Event {
		st.RecordID = *s.heads["record_id"]
		st.Class = "legacy_assertion"
		if table == e.Tables[0] {
			st.Class = "receipt"
		}
	}
	for i, c := range own(e) {
		var text *string
		var num *int64
		if c.Storage == importers.AsInt {
			num = *s.ints[i]
		} else {
			text = *s.texts[i]
		}
		if text == nil && num == nil {
			continue
		}
		if c.Field < 0 {
			if num != nil {
				st.Derived[c.Name] = fmt.Sprint(*num)
			} else {
				st.Derived[c.Name] = *text
			}
			continue
		}
		if st.Values[c.Field] == importers.NoValue() {
			st.Values[c.Field] = &importers.Value{}
		}
		v := st.Values[c.Field]
		switch c.Part {
		case importers.Main:
			v.Set = true
			if num != nil {
				v.Int = *num
			} else {
				v.Text = *text
			}
		case importers.OriginalText:
			v.Raw = *text
		case importers.Zone:
			v.Zone = *text
		case importers.Precision:
			v.Precision = *text
		}
	}
	return st
}

// Known reports whether some record was ever brought in under a record id.
func Known(ctx context.Context, tx *store.Tx, recordID string) (bool, error) {
	var n int64
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM id_map WHERE id = $1`, recordID).Scan(&n); err != nil {
		return false, fmt.Errorf("read the id map: %w", err)
	}
	return n > 0, nil
}

// EachSubject calls f with id and system of each record of the entity, and with the fields that name its subject; other fields are
// left unset. The record is valid until f returns. Entities that have no subject have no such record.
func EachSubject(ctx context.Context, tx *store.Tx, e *importers.Entity, tenant string, f func(id, system string, rec *importers.Record) error) error {
	return eachSubject(ctx, tx, e, "tenant = $1", []any{tenant}, func(id, _, system string, rec *importers.Record) error { return f(id, system, rec) })
}

// EachSubjectOf is EachSubject of what the register holds under record ids; f gets the record id too. With nil it is of all. Databases have
// no index of them: beyond MaxIDs, of which it takes no more, all is faster.
func EachSubjectOf(ctx context.Context, tx *store.Tx, e *importers.Entity, tenant string, records []string, f func(id, recordID, system string, rec *importers.Record) error) error {
	filter := Filter{}
	if records != nil {
		marks := make([]string, len(records))
		for i, id := range records {
			marks[i] = fmt.Sprintf("$%d", FirstArg+i)
			filter.Args = append(filter.Args, id)
		}
		filter.Cond = recordColumn(e) + " IN (" + strings.Join(marks, ", ") + ")"
	}
	cond, args := filter.where(e, tenant)
	return eachSubject(ctx, tx, e, cond, args, f)
}

// EachSubjectFrom is EachSubject of the records that a batch stands for and a condition on their columns lets through.
func EachSubjectFrom(ctx context.Context, tx *store.Tx, e *importers.Entity, tenant, batch, cond string, f func(id, system string, rec *importers.Record) error) error {
	cond = `tenant = $1 AND ` + cond + ` AND id IN (SELECT id FROM provenance WHERE tenant = $1 AND batch = $2 AND entity = $3 AND ` + live + `)`
	return eachSubject(ctx, tx, e, cond, []any{tenant, batch, e.Name}, func(id, _, system string, rec *importers.Record) error { return f(id, system, rec) })
}

// recordColumn holds the record id, which several events may share.
func recordColumn(e *importers.Entity) string {
	if e.Event {
		return "record_id"
	}
	return "id"
}

func eachSubject(ctx context.Context, tx *store.Tx, e *importers.Entity, cond string, args []any, f func(id, recordID, system string, rec *importers.Record) error) error {
	var names []string
	var fields []int
	for _, kind := range importers.SubjectFields() {
		if i := e.Field(kind); i >= 0 {
			names, fields = append(names, kind), append(fields, i)
		}
	}
	if len(names) == 0 {
		return nil
	}
	var id, recordID, system string
	texts, values := make([]*string, len(names)), make([]importers.Value, len(names))
	dest := []any{&id, &recordID, &system}
	for i := range texts {
		dest = append(dest, &texts[i])
	}
	rec := importers.NewRecord(e)
	for _, table := range e.Tables {
		rows, err := tx.Query(ctx, `SELECT id, `+recordColumn(e)+`, system, `+strings.Join(names, ", ")+` FROM `+table+` r WHERE `+cond, args...)
		if err != nil {
			return fmt.Errorf("read %s: %w", table, err)
		}
		for rows.Next() {
			if err := rows.Scan(dest...); err != nil {
				rows.Close()
				return fmt.Errorf("read %s: %w", table, err)
			}
			for i, text := range texts {
				rec.Values[fields[i]] = importers.NoValue()
				if text != nil {
					values[i] = importers.Value{Set: true, Text: *text}
					rec.Values[fields[i]] = &values[i]
				}
			}
			if err := f(id, recordID, system, &rec); err != nil {
				rows.Close()
				return err
			}
		}
		rows.Close()
		if err := rows.Err(); err != nil {
			return fmt.Errorf("read %s: %w", table, err)
		}
	}
	return nil
}

// Provenance is where one record came from.
type Provenance struct {
	ID, Entity, Batch, Snapshot, Source string
	FileDigest, Sheet                   string
	Row, Line                           int64
	RowDigest                           string
	MappingDigest, StagedDigest         string
	Vouched                             int64 // of a row that was skipped as known: the version in which the register held the record; else 0
}

// Live reports whether no undo took back what the row brought or vouched for: its batch stands for the record.
func (p *Provenance) Live() bool { return !strings.Contains(p.Snapshot, Retracted) }

// Left reports whether the row's batch was undone and the record kept, as no other batch's.
func (p *Provenance) Left() bool { return strings.HasSuffix(p.Snapshot, Left) }

// EachProvenance calls f for each provenance row of a batch and, unless id is empty, of that record only.
func EachProvenance(ctx context.Context, tx *store.Tx, tenant, batch, id string, f func(Provenance) error) error {
	cond, args := "tenant = $1 AND batch = $2", []any{tenant, batch}
	if id != "" {
		cond, args = "tenant = $1 AND id = $2", []any{tenant, id}
	}
	return eachProvenance(ctx, tx, cond, args, f)
}

// EachOnlyFrom calls f with the id of each record that some snapshots of a batch alone have brought, as far as nothing was retracted. That
// other batches found it there since makes no difference.
func EachOnlyFrom(ctx context.Context, tx *store.Tx, tenant, batch string, snapshots []string, f func(id string) error) error {
	if len(snapshots) == 0 {
		return nil
	}
	args, marks := []any{tenant, batch}, make([]string, len(snapshots))
	for i, s := range snapshots {
		args = append(args, s)
		marks[i] = fmt.Sprintf("$%d", len(args))
	}
	in := "IN (" + strings.Join(marks, ", ") + ")"
	rows, err := tx.Query(ctx, `
		SELECT DISTINCT p.id
		FROM provenance p
		WHERE p.tenant = $1 AND p.batch = $2 AND p.snapshot `+in+` AND p.vouched = 0
			AND NOT EXISTS (SELECT 1 FROM provenance o WHERE o.id = p.id AND (o.batch <> $2 AND o.vouched = 0 OR o.batch = $2 AND o.snapshot NOT `+in+`) AND (o.`+live+` OR o.`+left+`))`, args...)
	if err != nil {
		return fmt.Errorf("read provenance: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return fmt.Errorf("read provenance: %w", err)
		}
		if err := f(id); err != nil {
			return err
		}
	}
	return rows.Err()
}

// EachOfRow calls f for each provenance row of one row of a source of a batch.
func EachOfRow(ctx context.Context, tx *store.Tx, tenant, batch, source string, row int64, f func(Provenance) error) error {
	return eachProvenance(ctx, tx, "tenant = $1 AND batch = $2 AND source = $3 AND row = $4", []any{tenant, batch, source, row}, f)
}

// EachOfDigest calls f for each provenance row of the rows of a source of a batch that have a digest.
func EachOfDigest(ctx context.Context, tx *store.Tx, tenant, batch, source, digest string, f func(Provenance) error) error {
	return eachProvenance(ctx, tx, "tenant = $1 AND batch = $2 AND source = $3 AND row_digest = $4", []any{tenant, batch, source, digest}, f)
}

func eachProvenance(ctx context.Context, tx *store.Tx, cond string, args []any, f func(Provenance) error) error {
	rows, err := tx.Query(ctx, `
		SELECT id, entity, batch, snapshot, source, file_digest, sheet, row, line, row_digest, mapping_digest, staged_digest, vouched
		FROM provenance
		WHERE `+cond+`
		ORDER BY snapshot, source, row, id`, args...)
	if err != nil {
		return fmt.Errorf("read provenance: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var p Provenance
		if err := rows.Scan(&p.ID, &p.Entity, &p.Batch, &p.Snapshot, &p.Source, &p.FileDigest, &p.Sheet, &p.Row, &p.Line, &p.RowDigest, &p.MappingDigest, &p.StagedDigest, &p.Vouched); err != nil {
			return fmt.Errorf("read provenance: %w", err)
		}
		if err := f(p); err != nil {
			return err
		}
	}
	return rows.Err()
}

// UndatedObtained gives, for the records of an event-like entity (suppression, case, consent) that bear no date of their own,
// when the first export that brought them was obtained. A record whose bringer was undone has only rows that found it there: then the
// latest of these exports counts, for the later it is, the more it stands against.
func UndatedObtained(ctx context.Context, tx *store.Tx, e *importers.Entity, tenant string, filter Filter) (map[string]int64, error) {
	obtained := map[string]int64{}
	date := map[string]string{"suppression": "occurred_at", "consent": "occurred_at", "case": "closed_at"}[e.Name]
	if date == "" {
		return obtained, nil
	}
	cond, args := filter.where(e, tenant)
	for _, table := range e.Tables {
		rows, err := tx.Query(ctx, `
			SELECT p.id, COALESCE(MIN(CASE WHEN p.vouched = 0 THEN p.obtained_at END), MAX(p.obtained_at))
			FROM provenance p
			WHERE p.id IN (SELECT id FROM `+table+` WHERE `+cond+` AND `+date+` IS NULL) AND (p.`+live+` OR p.`+left+`)
			GROUP BY p.id`, args...)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", table, err)
		}
		for rows.Next() {
			var id string
			var at int64
			if err := rows.Scan(&id, &at); err != nil {
				rows.Close()
				return nil, fmt.Errorf("read %s: %w", table, err)
			}
			obtained[id] = at
		}
		rows.Close()
		if err := rows.Err(); err != nil {
			return nil, fmt.Errorf("read %s: %w", table, err)
		}
	}
	return obtained, nil
}
