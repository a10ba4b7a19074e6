// Go allows functions without a body only in packages that have a file like this one.
