// A module of its own for its path: packages are initialized in the order of their import paths, so this one must come before github.com.
module early

go 1.26.0
