import fc from 'fast-check'

// That a property fails kills the mutant; the smallest counterexample is of no use.
fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true })
