import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { isOutsideBudgets } from '@cofferdam/kubernetes/api/disruption-rules.ts'
import { conditionOf, controllerOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import {
  deployments,
  nodes,
  podDisruptionBudgets,
  pods,
  replicaSets,
  statefulSets,
} from '@cofferdam/kubernetes/api/resources.ts'
import { persistentVolumeClaims } from '@cofferdam/kubernetes/api/storage.ts'
import { disruptionLedgers } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { type AskPorts, askExplain } from './ask-commands.ts'
import { atOneMoment } from './at-one-moment.ts'
import { dryRunEviction } from './longhorn-agreement.ts'

export interface KindsAgreement {
  /** Where `explain` of a workload, claim or zone differs from the evictions of its pods, or from its nodes: none is right. */
  readonly disagreements: readonly string[]
  readonly free: number
  readonly blocked: number
}

interface Named {
  /** `statefulset/shop/orders` */
  readonly object: string
  readonly own: readonly Pod[]
}

/** Asks `explain` for some workloads and claims, and the API server for the eviction of their pods; and for a zone beside its nodes. */
export function compareKinds(ports: AskPorts, choose: <T>(all: readonly T[]) => readonly T[]): Promise<KindsAgreement> {
  const kinds = [pods, podDisruptionBudgets, disruptionLedgers, nodes]
  return atOneMoment(ports.api, kinds, async () => {
    const disagreements: string[] = []
    let free = 0
    let blocked = 0
    for (const { object, own } of choose(await namedThings(ports))) {
      const codes = new Map<Pod, number>()
      for (const pod of own) codes.set(pod, await dryRunEviction(ports.api, pod))
      if ([...codes.values()].includes(404)) continue
      const { code, answer } = await askExplain(ports, object)
      const passed = (pod: Pod) => codes.get(pod) === 201
      const isFree = own.every(passed) || own.some((pod) => passed(pod) && isServing(pod))
      if (isFree) free += 1
      else blocked += 1
      const why = answer.blockers.map((each) => ` ${each.reason} of ${each.object}`).join()
      if (answer.mayGo !== isFree || code !== (isFree ? 0 : 3)) {
        disagreements.push(`${object}: explain exits with ${code}${why}; evictions: ${[...codes.values()].join(' ')}`)
      }
    }
    const { items } = await ports.api.list(nodes)
    const zones = items.flatMap(({ metadata }) => metadata.labels?.['topology.kubernetes.io/zone'] ?? [])
    for (const zone of choose([...new Set(zones)]).slice(0, 1)) disagreements.push(...(await compareZone(ports, zone)))
    return { disagreements, free, blocked }
  })
}

async function namedThings({ api }: AskPorts): Promise<Named[]> {
  const [all, sets, stateful, deployed, claims] = await Promise.all([
    api.list(pods),
    api.list(replicaSets),
    api.list(statefulSets),
    api.list(deployments),
    api.list(persistentVolumeClaims),
  ])
  const ownedBy = (uids: readonly (string | undefined)[]) =>
    all.items.filter((pod) => uids.includes(controllerOf(pod)?.uid ?? ''))
  return [
    ...stateful.items.map(({ metadata: { namespace, name, uid } }) => ({
      object: `statefulset/${namespace}/${name}`,
      own: ownedBy([uid]),
    })),
    ...deployed.items.map(({ metadata: { namespace, name, uid } }) => ({
      object: `deployment/${namespace}/${name}`,
      own: ownedBy(sets.items.filter((set) => controllerOf(set)?.uid === uid).map(({ metadata }) => metadata.uid)),
    })),
    ...claims.items.map(({ metadata: { namespace, name } }) => ({
      object: `pvc/${namespace}/${name}`,
      own: all.items.filter(
        (pod) =>
          pod.metadata.namespace === namespace &&
          pod.spec.volumes?.some(({ persistentVolumeClaim: claim }) => claim?.claimName === name),
      ),
    })),
  ].filter(({ own }) => own.length > 0 && own.every(({ metadata }) => metadata.annotations?.[skipDrain] !== 'true'))
}

const skipDrain = 'cofferdam.io/skip-drain'

/** One that does not run yet, or goes already, says nothing about its workload. */
function isServing(pod: Pod): boolean {
  const isReady = conditionOf(pod, 'Ready')?.status === 'True'
  return isReady && !isOutsideBudgets(pod) && pod.metadata.deletionTimestamp === undefined
}

async function compareZone(ports: AskPorts, zone: string): Promise<string[]> {
  const { answer } = await askExplain(ports, `zone/${zone}`)
  if (answer.kind !== 'zone') throw new Error(`zone/${zone} is a ${answer.kind}`)
  const found: string[] = []
  for (const { node, mayGo } of answer.nodes) {
    const { answer: alone } = await askExplain(ports, `node/${node}`)
    if (alone.mayGo !== mayGo) found.push(`zone/${zone} says ${mayGo} of node/${node}, which says ${alone.mayGo}`)
  }
  if (answer.mayGo !== answer.nodes.every(({ mayGo }) => mayGo)) found.push(`zone/${zone} differs from its nodes`)
  return found
}
