package reports

// Clean makes a name safe to show: characters that show as nothing, or change what stands around them, are shown escaped.
func Clean(s string) string { return clean(s) }

// Number groups thousands, so that a million can be told from ten.
func Number[N int | int64](n N) string { return number(n) }
