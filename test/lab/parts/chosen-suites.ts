export const realNodeSuite = 'real-node.lab.ts'

/** Suites that run programs of the lab beside no cluster, or bring their own. */
const withoutCluster: readonly string[] = ['longhorn-oracle.lab.ts', realNodeSuite]

/** Whether the suite with real nodes is chosen. It makes a machine of its own and runs alone, so it has to be named, and no other with it. */
export function isRealNode(chosen: readonly string[]): boolean {
  return chosen.length === 1 && chosen[0] === 'real-node'
}

/** Whether one of the suites is chosen: none are named, or one of them is, by a part of its path. */
export function isOneChosen(chosen: readonly string[], suites: readonly string[]): boolean {
  return suites.some((suite) => chosen.length === 0 || chosen.some((word) => `test/lab/${suite}`.includes(word)))
}

/** Whether a Kubernetes and a Ceph have to be there for what is chosen. A word that names no suite is taken for one that needs them. */
export function needsCluster(chosen: readonly string[], suites: readonly string[]): boolean {
  const alone = suites.filter((suite) => withoutCluster.includes(suite))
  const others = suites.filter((suite) => suite.endsWith('.lab.ts') && !alone.includes(suite))
  return isOneChosen(chosen, others) || !isOneChosen(chosen, alone)
}
