import { setTimeout as pause } from 'node:timers/promises'
import {
  type LonghornReplica,
  longhornNamespace,
  longhornNodes,
  longhornReplicas,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { events } from '@cofferdam/kubernetes/api/resources.ts'
import type { HttpKubeApi } from '@cofferdam/kubernetes/client/http-kube-api.ts'
import type { LonghornLab } from '../longhorn-lab.ts'
import type { RunningProgram } from '../processes/run-program.ts'

const inLonghorn = { namespace: longhornNamespace }
const betweenLooksMs = 200

/** What was seen of Longhorn while a node was drained. */
export interface FollowedDrain {
  readonly drain: RunningProgram
  /** Each robustness that a volume had. */
  robustness(volume: string): ReadonlySet<string>
  /** Volumes whose replica on the node was flagged at some time. */
  readonly flagged: ReadonlySet<string>
  /** The fewest whole copies that a volume had. */
  fewestCopies(volume: string): number
  wasAutoEvicting(): boolean
  /** Of events about replicas since the drain began, as Longhorn's own code wrote them. */
  reasons(): Promise<ReadonlySet<string>>
  /** Ends the looking; the drain goes on. */
  stop(): Promise<void>
}

/** Begins a drain with kubectl, and looks at Longhorn's objects until it is told to stop. */
export async function followDrain(lab: LonghornLab, node: string): Promise<FollowedDrain> {
  const { api } = lab
  const before = new Set(await eventsOfReplicas(api).then((list) => list.map(({ metadata }) => metadata.uid)))
  const robustness = new Map<string, Set<string>>()
  const fewest = new Map<string, number>()
  const flagged = new Set<string>()
  let isAutoEvicting = false
  let isStopped = false
  let failure: unknown

  async function look(): Promise<void> {
    const [replicas, volumes, own] = await Promise.all([
      api.list(longhornReplicas, inLonghorn),
      api.list(longhornVolumes, inLonghorn),
      api.get(longhornNodes, { ...inLonghorn, name: node }),
    ])
    for (const { metadata, status } of volumes.items) {
      const seen = robustness.get(metadata.name) ?? new Set()
      robustness.set(metadata.name, seen.add(status?.robustness ?? ''))
      const copies = replicas.items.filter((one) => one.spec?.volumeName === metadata.name && isWhole(one)).length
      fewest.set(metadata.name, Math.min(copies, fewest.get(metadata.name) ?? copies))
    }
    for (const { spec } of replicas.items) {
      if (spec?.nodeID === node && spec.evictionRequested === true) flagged.add(spec.volumeName ?? '')
    }
    if (own.status?.autoEvicting === true) isAutoEvicting = true
  }

  await look()
  const drain = lab.drain(node)
  const looking = (async () => {
    while (!isStopped) {
      await look()
      await pause(betweenLooksMs)
    }
  })().catch((error: unknown) => {
    failure = error
  })
  return {
    drain,
    robustness: (volume) => robustness.get(volume) ?? new Set(),
    flagged,
    fewestCopies: (volume) => fewest.get(volume) ?? 0,
    wasAutoEvicting: () => isAutoEvicting,
    async reasons() {
      const fresh = (await eventsOfReplicas(api)).filter(({ metadata }) => !before.has(metadata.uid))
      return new Set(fresh.map(({ reason }) => reason ?? ''))
    },
    async stop() {
      isStopped = true
      await looking
      if (failure !== undefined) throw failure
    },
  }
}

/** Those that Longhorn's controller of nodes writes; nobody else writes as it. */
async function eventsOfReplicas(api: HttpKubeApi) {
  const { items } = await api.list(events, inLonghorn)
  return items.filter(
    ({ involvedObject, source }) =>
      involvedObject?.kind === 'Replica' && source?.component === 'longhorn-node-controller',
  )
}

function isWhole({ spec, metadata }: LonghornReplica): boolean {
  return Boolean(spec?.healthyAt) && !spec?.failedAt && metadata.deletionTimestamp === undefined
}
