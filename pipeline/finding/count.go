package finding

import "strconv"

// Count is n with the word for one thing or for several: 1 row is, 2 rows are. Every message that counts takes it, so that none says
// "1 rows".
func Count[N int | int64](n N, one, several string) string {
	return strconv.FormatInt(int64(n), 10) + " " + Word(n, one, several)
}

// Word is the word alone, for numbers that are written in another way.
func Word[N int | int64](n N, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}
