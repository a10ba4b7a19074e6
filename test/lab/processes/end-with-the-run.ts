/** A run that is told to end, or killed, takes its suites with it; each suite then takes its daemons. */
process.once('disconnect', () => process.exit(1))
