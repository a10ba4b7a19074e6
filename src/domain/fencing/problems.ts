import type { LabelledCluster } from './decide-labels.ts'
import type { FencingDecision } from './decision.ts'
import { clusterId } from './fence-labels.ts'
import type { FencingSnapshot } from './snapshot.ts'

type Problem = FencingDecision['problems'][number]

/** What is wrong with single objects, in the order of their names. None of it changes what happens to the others. */
export function fencingProblems(snapshot: FencingSnapshot, clusters: readonly LabelledCluster[]): Problem[] {
  const problems: Problem[] = snapshot.unreadable.map(({ object, why }) => ({ object, problem: why }))
  const onNodes = new Set(snapshot.machines.map(({ nodeName }) => nodeName))
  for (const { cluster, osds } of clusters) {
    const object = `cephcluster/${clusterId(cluster)}`
    for (const problem of cluster.settings.problems) problems.push({ object, problem })
    if (osds.unplaced !== undefined) {
      problems.push({ object, problem: `${osds.unplaced}; until then no machine loses its label` })
    }
    const lost = [...osds.running].filter((node) => snapshot.areMachinesServed && !onNodes.has(node)).sort()
    if (lost.length > 0 && snapshot.machines.length > 0) {
      problems.push({
        object,
        problem: `no Machine has the node${lost.length === 1 ? '' : 's'} ${lost.join(', ')} with its OSDs`,
      })
    }
  }
  for (const { kind, key, isAlive } of snapshot.remediators) {
    if (isAlive.known && isAlive.value) continue
    const why = isAlive.known ? 'nobody seems to look after it' : isAlive.why
    problems.push({ object: `${kind}/${key}`, problem: `${why}; machines are kept from nobody who does not listen` })
  }
  for (const { namespace, name, isOurs, labelKey } of snapshot.budgets) {
    if (isOurs || labelKey === undefined) continue
    problems.push({
      object: `machinedisruptionbudget/${namespace}/${name}`,
      problem: "it selects the same machines and is somebody else's; a remediator may refuse machines with two budgets",
    })
  }
  return problems.sort((a, b) => (`${a.object} ${a.problem}` < `${b.object} ${b.problem}` ? -1 : 1))
}
