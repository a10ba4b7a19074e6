import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { type CephCluster, cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { configMaps, deployments, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type Actor, type ActorPorts, openTools } from '../../actor.ts'
import type { SimulatedCeph } from '../simulated-ceph.ts'
import { runOsdPass } from './osd-pass.ts'
import { PassReport } from './pass-report.ts'

export interface RookOsdLoopOptions {
  readonly cluster: { readonly namespace: string; readonly name: string }
  readonly ceph: Pick<SimulatedCeph, 'commands'>
  /** How long a pass takes before it comes to the OSDs. Default 6 s. */
  readonly prepareMs?: number
  /** How long it waits after each batch, or after an OSD that may not stop. Default 500 ms. */
  readonly tickMs?: number
  /** Whether mons and mgrs get another image too. Default true. */
  readonly updatesMons?: boolean
}

export interface RookOsdLoop extends Actor {
  /** Passes that have begun, and that came to their end. */
  readonly passes: { readonly begun: number; readonly ended: number }
  /** OSDs whose Deployments were written together, in the order of the writes. */
  readonly batches: readonly (readonly number[])[]
  isPassing(): boolean
}

export const overrideName = 'rook-config-override'
const operatorName = 'rook-ceph-operator'
const skipLabel = 'ceph.rook.io/do-not-reconcile'
/** After a pass that failed. */
const retryMs = 20_000

/**
 * Rook's operator as far as it updates Ceph: mons, mgrs, then OSDs by batches that Ceph calls ok to stop.
 *
 * Guarantees, as measured with the real one: one pass at a time; it begins when the operator starts, when the spec of the CephCluster
 * changes (which breaks off a pass that runs, between two batches), when the data of `rook-config-override` changes, or a node's spec;
 * labels and the spec are read once in a pass; an update replaces the labels of a Deployment; what does not change is not written; an
 * OSD that may not stop is tried again and again, whether it is labelled or not. It runs while its Deployment has replicas.
 */
export function startRookOsdLoop(ports: ActorPorts & RookOsdLoopOptions): RookOsdLoop {
  const { cluster: key, prepareMs = 6_000, tickMs = 500 } = ports
  const tools = openTools('rook-ceph-operator', ports)
  const { clock } = tools
  const clusterView = tools.views.of(cephClusters)
  const operatorView = tools.views.of(deployments)
  const name = `${key.namespace}/${key.name}`
  const batches: (readonly number[])[] = []
  const counts = { begun: 0, ended: 0 }
  const report = new PassReport(tools, key)
  let process: AbortController | undefined
  let pass: AbortController | undefined
  let isAsked = false
  let wake = () => {}

  const ask = () => {
    isAsked = true
    wake()
  }
  const ends = [
    operatorView.subscribe(({ after }) => {
      if (after?.metadata.name === operatorName && after.metadata.namespace === key.namespace) follow()
    }),
    clusterView.subscribe(({ before, after }) => {
      if (after === undefined || `${after.metadata.namespace}/${after.metadata.name}` !== name) return
      if (before === undefined || before.metadata.generation === after.metadata.generation) return
      pass?.abort()
      ask()
    }),
    tools.views.of(configMaps).subscribe(({ before, after }) => {
      if (isOverride(after, key.namespace) && before !== undefined && !isSameJson(before.data, after?.data)) ask()
    }),
    tools.views.of(nodes).subscribe(({ before, after }) => {
      if (before !== undefined && after !== undefined && !isSameJson(before.spec, after.spec)) ask()
    }),
  ]
  const starting = operatorView.onReady(follow)

  /** The process lives while the Deployment wants it. */
  function follow(): void {
    const operator = operatorView.get(`${key.namespace}/${operatorName}`)
    const isWanted = operator !== undefined && (operator.spec.replicas ?? 1) > 0
    if (!isWanted) {
      process?.abort()
      process = undefined
    } else if (process === undefined) {
      process = new AbortController()
      isAsked = true
      void live(process.signal)
    }
  }

  async function live(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (!isAsked) {
        await new Promise<void>((resolve) => {
          wake = resolve
          signal.addEventListener('abort', () => resolve(), { once: true })
        })
        continue
      }
      isAsked = false
      const failure = await reconcile(signal)
      if (failure !== undefined && !signal.aborted) {
        const cancel = clock.after(retryMs, ask)
        signal.addEventListener('abort', cancel, { once: true })
      }
    }
  }

  /** Why it failed. */
  async function reconcile(signal: AbortSignal): Promise<string | undefined> {
    const cluster = await tools.api.get(cephClusters, key).catch(() => undefined)
    if (cluster === undefined || isLeftAlone(cluster)) return undefined
    pass = new AbortController()
    const ended = AbortSignal.any([signal, pass.signal])
    counts.begun += 1
    try {
      await report.begin('Detecting Ceph version')
      await sleep(clock, prepareMs, ended)
      const failures = await runOsdPass(
        {
          tools,
          cluster,
          ceph: ports.ceph.commands,
          tickMs,
          batches,
          report,
          process: signal,
          updatesMons: ports.updatesMons ?? true,
        },
        ended,
      )
      if (ended.aborted) return undefined
      const failure =
        failures.length === 0
          ? undefined
          : `failed to start ceph osds: ${failures.length} failures encountered while running osds on nodes in namespace ${JSON.stringify(key.namespace)}. ${failures.join('. ')}`
      await (failure === undefined ? report.succeed(cluster) : report.fail(failure))
      counts.ended += 1
      return failure
    } catch (error) {
      if (ended.aborted) return undefined
      tools.fail(name, error)
      return String(error)
    } finally {
      pass = undefined
    }
  }

  return {
    passes: counts,
    batches,
    isPassing: () => pass !== undefined,
    stop() {
      process?.abort()
      starting()
      for (const end of ends) end()
      tools.stop()
    },
  }
}

function isOverride(map: ConfigMap | undefined, namespace: string): boolean {
  return map?.metadata.name === overrideName && map.metadata.namespace === namespace
}

function isLeftAlone({ metadata }: CephCluster): boolean {
  return metadata.labels?.[skipLabel] !== undefined || metadata.deletionTimestamp !== undefined
}
