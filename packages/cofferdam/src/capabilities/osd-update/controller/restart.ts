import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type StartOutcome, startRestart } from '../apply/apply.ts'
import type { RestartWay } from '../domain/restart-way.ts'
import type { OsdUpdateObserver } from '../observe/observe.ts'

export interface RestartPorts {
  readonly api: KubeApi
  readonly observer: Pick<OsdUpdateObserver, 'readRestartWays' | 'noteLeaving' | 'noteStaying' | 'noteHeld'>
}

export interface OsdRestart {
  readonly osd: number
  readonly cluster: CephCluster
  /** Its pods from before the restart was asked for. */
  readonly pods: readonly Pod[]
  /** Whether the ledger has the storage held for this update. */
  readonly isStorageHeld: boolean
}

export type SeenWays = { readonly of: (pods: readonly Pod[]) => RestartWay } | { readonly error: unknown }

/** At the last moment: a budget or a lock that came meanwhile counts. */
export async function readWays(
  { observer }: RestartPorts,
  cluster: CephCluster,
  signal: AbortSignal,
): Promise<SeenWays> {
  try {
    return { of: await observer.readRestartWays(cluster, signal) }
  } catch (error) {
    if (signal.aborted) throw error
    return { error }
  }
}

/** Has Rook's Deployment make another pod of an OSD: its old one is told to go, as its budgets allow. */
export async function restartOsd(
  ports: RestartPorts,
  restart: OsdRestart,
  { ways, signal }: { readonly ways: SeenWays; readonly signal: AbortSignal },
): Promise<StartOutcome> {
  const { osd, cluster, pods, isStorageHeld } = restart
  const way = 'error' in ways ? ways : ways.of(pods)
  if ('error' in way) return { osd, result: 'unsure', error: way.error }
  if (way.way === 'wait') return { osd, result: 'later', why: way.why, isHeld: true }
  const outcome = await tellToGo(ports, restart, { way, signal })
  const isRefused = outcome.result === 'later' && outcome.isHeld === true
  if (!isRefused) return outcome
  // A budget of ours that was open a moment ago is being closed for this very update.
  const again = isStorageHeld && way.way === 'evict' ? await readWays(ports, cluster, signal) : undefined
  const next = again === undefined || 'error' in again ? undefined : again.of(pods)
  if (next?.way === 'past-own-budgets') return tellToGo(ports, restart, { way: next, signal })
  for (const uid of uidsOf(pods)) ports.observer.noteHeld(uid, outcome.why)
  return outcome
}

async function tellToGo(
  { api, observer }: RestartPorts,
  { osd, pods, isStorageHeld }: OsdRestart,
  { way, signal }: { readonly way: RestartWay; readonly signal: AbortSignal },
): Promise<StartOutcome> {
  const by = way.way === 'past-own-budgets' && isStorageHeld ? 'deletion' : 'eviction'
  const uids = uidsOf(pods)
  for (const uid of uids) observer.noteLeaving(uid)
  const outcome = await startRestart(api, { osd, pods, by }, signal)
  if (outcome.result === 'later' || outcome.result === 'refused') for (const uid of uids) observer.noteStaying(uid)
  return outcome
}

function uidsOf(pods: readonly Pod[]): string[] {
  return pods.flatMap(({ metadata }) => metadata.uid ?? [])
}
