import { Counter, Gauge, type Registry } from 'prom-client'
import { cephLabelNames } from '../../../shared/ceph-labels.ts'
import type { FencingDecision } from '../domain/decision.ts'
import { heldNodes } from '../domain/held-nodes.ts'
import type { FencingSnapshot } from '../domain/snapshot.ts'

/** Which machines may be fenced, as the last decision left it. */
export function createFencingMetrics(registry: Registry) {
  const registers = [registry]
  const labelNames = cephLabelNames
  const allowed = new Gauge({
    name: 'cofferdam_fencing_allowed',
    help: 'Machines with OSDs of a Ceph cluster that may be fenced now: 0 or 1.',
    labelNames,
    registers,
  })
  const underWay = new Gauge({
    name: 'cofferdam_fencing_fences_under_way',
    help: 'Fences of machines with OSDs of a Ceph cluster that are not over.',
    labelNames,
    registers,
  })
  const held = new Gauge({
    name: 'cofferdam_fencing_sick_nodes_held',
    help: 'Nodes that are not Ready and that remediators are kept from, because storage needs them.',
    registers,
  })
  const planned = new Gauge({
    name: 'cofferdam_fencing_planned_nodes',
    help: 'Nodes that remediators are kept from, because they are rebooted on plan.',
    registers,
  })
  const problems = new Gauge({
    name: 'cofferdam_fencing_problems',
    help: 'Machines, budgets and remediators that cannot be used as they are.',
    registers,
  })
  const labelChanges = new Counter({
    name: 'cofferdam_fencing_label_changes_total',
    help: 'Fencing labels that were seen to come and go on machines.',
    labelNames: ['verb'] as const,
    registers,
  })
  let labelled: ReadonlyMap<string, readonly string[]> | undefined

  function countLabelChanges(machines: FencingSnapshot['machines']): void {
    const now = new Map<string, readonly string[]>()
    for (const { namespace, name, labelsOfOurs } of machines) {
      if (labelsOfOurs.length > 0) now.set(`${namespace}/${name}`, labelsOfOurs)
    }
    const before = labelled
    labelled = now
    // What the first pass finds was there before.
    if (before === undefined) return
    labelChanges.inc({ verb: 'add' }, countBeyond(now, before))
    labelChanges.inc({ verb: 'remove' }, countBeyond(before, now))
  }

  return {
    /** Clusters that are not among the answers any more lose their figures. */
    show(decision: FencingDecision, seen: Pick<FencingSnapshot, 'nodes' | 'machines'>) {
      const { clusters, fences } = decision
      allowed.reset()
      underWay.reset()
      for (const { namespace, name, uid, budget } of clusters) {
        if (budget === undefined) continue
        const labels = { ceph_namespace: namespace, ceph_cluster: name }
        allowed.set(labels, budget.status.disruptionsAllowed)
        underWay.set(labels, fences.filter((fence) => fence.cluster.uid === uid && !fence.isOver).length)
      }
      held.set(heldNodes(decision, seen).length)
      planned.set(decision.outages.filter(({ isOver }) => !isOver).length)
      problems.set(decision.problems.length)
      countLabelChanges(seen.machines)
    },
  }
}

/** How many labels there are in one that are not in the other. */
function countBeyond(
  one: ReadonlyMap<string, readonly string[]>,
  other: ReadonlyMap<string, readonly string[]>,
): number {
  let count = 0
  for (const [machine, keys] of one) {
    const known = other.get(machine)
    count += known === undefined ? keys.length : keys.filter((key) => !known.includes(key)).length
  }
  return count
}
