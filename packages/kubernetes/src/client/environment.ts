/** The variables of a process, as it is handed them. */
export type Environment = Readonly<Record<string, string | undefined>>
