package register

import (
	"fmt"
	"strings"

	"sheetlift/importers"
)

// columns of an entity's table in order, before the entity's own: tenant and the part of the envelope that is not provenance.
func head(e *importers.Entity) []string {
	h := []string{"tenant", "id"}
	if e.Event {
		h = append(h, "record_id")
	}
	return append(h, "system", "external_key", "content_digest", "version")
}

// own are the entity's columns that its table holds; the class of a consent is the table it lies in.
func own(e *importers.Entity) []importers.Column {
	var cols []importers.Column
	for _, c := range e.Columns() {
		if !(e.Event && c.Name == "class") {
			cols = append(cols, c)
		}
	}
	return cols
}

// tableColumns are the columns of the entity's table in order.
func tableColumns(e *importers.Entity) []string {
	names := head(e)
	for _, c := range own(e) {
		names = append(names, c.Name)
	}
	return names
}

// tableFor returns the table that a record of the class lies in.
func tableFor(e *importers.Entity, class string) string {
	if e.Event && class != "receipt" {
		return e.Tables[1]
	}
	return e.Tables[0]
}

// ddl gives the CREATE TABLE statement of an entity's table on an engine ("sqlite" or "postgres"). The migrations are written
// out by hand from it; a test holds them to it.
func ddl(e *importers.Entity, table, engine string) string {
	integer, text, strict := "BIGINT", `TEXT COLLATE "C"`, "" // byte order, as SQLite has it
	if engine == "sqlite" {
		integer, text, strict = "INTEGER", "TEXT", " STRICT"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s (\n", table)
	for _, n := range head(e) {
		switch n {
		case "id":
			fmt.Fprintf(&b, "    id %s NOT NULL PRIMARY KEY,\n", text)
		case "version":
			fmt.Fprintf(&b, "    version %s NOT NULL,\n", integer)
		default:
			fmt.Fprintf(&b, "    %s %s NOT NULL,\n", n, text)
		}
	}
	cols := own(e)
	for i, c := range cols {
		t, null, sep := text, "", ","
		if c.Storage == importers.AsInt {
			t = integer
		}
		if c.NotNull || c.Field >= 0 && c.Part == importers.Main && e.Fields[c.Field].Required {
			null = " NOT NULL"
		}
		if i == len(cols)-1 {
			sep = ""
		}
		fmt.Fprintf(&b, "    %s %s%s%s\n", c.Name, t, null, sep)
	}
	fmt.Fprintf(&b, ")%s;\n", strict)
	return b.String()
}
