import type { FencingDecision } from './decision.ts'
import { clusterId } from './fence-labels.ts'
import type { LabelledCluster } from './labelled-cluster.ts'
import type { FencingSnapshot, MachineBudgetView } from './snapshot.ts'

type Problem = FencingDecision['problems'][number]

const mostNamed = 10

/** What is wrong with single objects, in the order of their names. None of it changes what happens to the others. */
export function fencingProblems(snapshot: FencingSnapshot, clusters: readonly LabelledCluster[]): Problem[] {
  const problems: Problem[] = snapshot.unreadable.map(({ object, why }) => ({ object, problem: why }))
  if (!snapshot.reboots.known) {
    const problem = `${snapshot.reboots.why}; until they can be read no gate is taken back`
    problems.push({ object: 'nodedisruptions', problem })
  }
  for (const { cluster, osds, unclaimed, budget } of clusters) {
    const object = `cephcluster/${clusterId(cluster)}`
    for (const problem of cluster.settings.problems) problems.push({ object, problem })
    if (osds.unplaced !== undefined) {
      problems.push({ object, problem: `${osds.unplaced}; until then no machine loses its label` })
    }
    if (unclaimed.length > 0 && snapshot.machines.length > 0) {
      const named = unclaimed.slice(0, mostNamed).join(', ')
      const more = unclaimed.length > mostNamed ? ` and ${unclaimed.length - mostNamed} more` : ''
      problems.push({
        object,
        problem: `no Machine has the node${unclaimed.length === 1 ? '' : 's'} ${named}${more} with its OSDs, so its budget does not count them`,
      })
    }
    const edit = budget === undefined ? undefined : handEdit(budget)
    if (budget !== undefined && edit !== undefined) {
      const problem = `${edit}; it is restored`
      problems.push({ object: `machinedisruptionbudget/${budget.namespace}/${budget.name}`, problem })
    }
  }
  for (const { kind, key, isAlive } of snapshot.remediators) {
    if (isAlive.known) continue
    problems.push({
      object: `${kind}/${key}`,
      problem: `${isAlive.why}; machines are not kept from a remediator that does not listen`,
    })
  }
  const wanted = new Set(clusters.map(({ budget }) => budget))
  for (const budget of snapshot.budgets) {
    const { namespace, name, isOurs, labelKey } = budget
    if (isOurs || labelKey === undefined || wanted.has(budget)) continue
    problems.push({
      object: `machinedisruptionbudget/${namespace}/${name}`,
      problem:
        'it selects the same machines and is not managed by Cofferdam; a remediator may refuse machines with two budgets',
    })
  }
  return problems.sort((a, b) => (`${a.object} ${a.problem}` < `${b.object} ${b.problem}` ? -1 : 1))
}

/** What nobody but a human would have written on the budget of a cluster. */
function handEdit({ isOurs, labelKey, maxUnavailable }: MachineBudgetView): string | undefined {
  if (!isOurs) return 'it does not say for which CephCluster it is'
  if (labelKey === undefined) return 'its selector was changed'
  return maxUnavailable === 0 || maxUnavailable === 1 ? undefined : 'its maxUnavailable was changed'
}
