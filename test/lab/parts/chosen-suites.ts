/** Suites that run only where one of them is named, and no other: they bring what they need, and no run of everything waits for that. */
const named = ['image-arm64', 'real-node'] as const

/** Suites that run programs of the lab beside no cluster. */
const withoutCluster: readonly string[] = ['longhorn-oracle.lab.ts']

/** Which of the suites that have to be named is chosen, if one is. */
export function namedSuite(chosen: readonly string[]): (typeof named)[number] | undefined {
  return chosen.length === 1 ? named.find((suite) => suite === chosen[0]) : undefined
}

/** Whether one of the suites is chosen: none are named, or one of them is, by a part of its path. */
export function isOneChosen(chosen: readonly string[], suites: readonly string[]): boolean {
  return suites.some((suite) => chosen.length === 0 || chosen.some((word) => `test/lab/${suite}`.includes(word)))
}

/** Whether a Kubernetes and a Ceph have to be there for what is chosen. A word that names no suite is taken for one that needs them. */
export function needsCluster(chosen: readonly string[], suites: readonly string[]): boolean {
  if (namedSuite(chosen) !== undefined) return false
  const alone = suites.filter((suite) => withoutCluster.includes(suite))
  const others = suites.filter((suite) => suite.endsWith('.lab.ts') && !alone.includes(suite))
  return isOneChosen(chosen, others) || !isOneChosen(chosen, alone)
}
