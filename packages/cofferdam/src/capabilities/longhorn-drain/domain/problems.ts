import type { LonghornDecision } from './decision.ts'
import { rebootPolicyAnnotation } from './drain-settings.ts'
import type { LonghornIndex } from './longhorn-index.ts'
import { drainPolicySetting } from './policy.ts'

type Problem = LonghornDecision['problems'][number]

export function clusterProblems({ settings, unreadable }: LonghornIndex): Problem[] {
  const policy = settings.policy.known
    ? []
    : [
        {
          object: `setting/${drainPolicySetting}`,
          problem: `${settings.policy.why}; until it is corrected no replica starts to move, and no node with replicas is let go`,
        },
      ]
  const reboot =
    settings.rebootPolicy?.known === false
      ? [
          {
            object: `setting/${drainPolicySetting}`,
            problem: `annotation ${rebootPolicyAnnotation}: ${settings.rebootPolicy.why}; until it is corrected no replica starts to move off a node that only reboots, and no such node with replicas is let go`,
          },
        ]
      : []
  const words = settings.problems.map((problem) => ({ object: `setting/${drainPolicySetting}`, problem }))
  return [...policy, ...reboot, ...words, ...unreadable.map(({ object, why }) => ({ object, problem: why }))]
}

/** What is wrong with a volume and its replicas. Asked with the volume of a replica, it also covers volumes that are gone. */
export function volumeProblems(index: LonghornIndex, name: string): readonly Problem[] {
  const problems: Problem[] = []
  const volume = index.volumes.get(name)
  const policy = volume?.policy
  if (policy !== undefined && !policy.known) {
    const problem = `its drain policy: ${policy.why}; until it is corrected it does not start to move, and holds the nodes of its replicas`
    problems.push({ object: `volume/${name}`, problem })
  }
  for (const { name: replica, node, healthyAt } of index.replicasOf(name)) {
    const object = `replica/${replica}`
    if (volume === undefined && !index.unreadableObjects.has(`volume/${name}`)) {
      problems.push({ object, problem: `its volume ${name} is not there` })
    }
    if (node === '') {
      if (healthyAt !== '') problems.push({ object, problem: 'it has data but no node, and protects nothing' })
    } else if ((index.nodes.get(node)?.kubernetes ?? 'absent') === 'absent') {
      problems.push({ object, problem: `its node ${node} is gone, so it protects nothing` })
    }
  }
  return problems
}
