import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { ActorTools } from '../../actor.ts'
import type { CephCommands } from '../ceph-commands.ts'
import type { PassReport } from './pass-report.ts'

export interface OsdPassPorts {
  readonly tools: ActorTools
  /** As it was when the pass began. */
  readonly cluster: CephCluster
  readonly ceph: CephCommands
  readonly tickMs: number
  /** Where it is noted which were written together. */
  readonly batches: (readonly number[])[]
  readonly report: PassReport
  readonly updatesMons: boolean
  /** Ends with the operator: within a wait nothing else is heard. */
  readonly process: AbortSignal
}

const skipLabel = 'ceph.rook.io/do-not-reconcile'
const revision = 'deployment.kubernetes.io/revision'
const mostAtOnce = 20
const pollMs = 2_000
/** Twice the usual progress deadline. */
const patienceMs = 1_200_000

/** Mons, mgrs, then OSDs: one pass of Rook over its daemons. Returns what failed on the way. */
export async function runOsdPass(ports: OsdPassPorts, signal: AbortSignal): Promise<string[]> {
  const { report } = ports
  const failures: string[] = []
  for (const [app, words] of [
    ['rook-ceph-mon', 'Configuring Ceph Mons'],
    ['rook-ceph-mgr', 'Configuring Ceph Mgr(s)'],
  ] as const) {
    if (signal.aborted) return failures
    await report.begin(words)
    const found = ports.updatesMons ? await list(ports, app) : []
    for (const { metadata } of found) failures.push(...(await update(ports, [metadata.name])))
  }
  if (signal.aborted) return failures
  await report.begin('Configuring Ceph OSDs')
  const found = await list(ports, 'rook-ceph-osd')
  // Both are read once: who is labelled later is updated all the same, and who is freed later is not.
  const skipped = new Set(found.filter(({ metadata }) => metadata.labels?.[skipLabel] !== undefined).map(idOf))
  const queue = found.map(idOf)
  while (queue.length > 0 && !signal.aborted) {
    await sleep(ports.tools.clock, ports.tickMs, signal)
    if (signal.aborted) break
    const head = queue.shift() as number
    const stoppable = await okToStop(ports, head)
    if (stoppable === undefined) {
      queue.push(head)
      continue
    }
    const batch = stoppable.filter((id) => id === head || queue.includes(id))
    const names = batch.filter((id) => !skipped.has(id)).map((id) => `rook-ceph-osd-${id}`)
    failures.push(...(await update(ports, names)))
    for (const id of stoppable) if (queue.includes(id)) queue.splice(queue.indexOf(id), 1)
  }
  return failures
}

async function list({ tools, cluster }: OsdPassPorts, app: string): Promise<readonly Deployment[]> {
  const namespace = cluster.metadata.namespace ?? ''
  return (await tools.api.list(deployments, { namespace, labelSelector: `app=${app}` })).items
}

/** Whom Ceph lets stop together with it; undefined: not even it. */
async function okToStop({ ceph }: OsdPassPorts, id: number): Promise<readonly number[] | undefined> {
  try {
    const { code, out } = await ceph.run({ prefix: 'osd ok-to-stop', ids: [String(id)], max: mostAtOnce })
    return code === 0 ? (JSON.parse(out) as { readonly osds: readonly number[] }).osds : undefined
  } catch {
    return undefined
  }
}

/** Writes what differs, then waits for all of them as Deployments say it, whatever Ceph says. */
async function update(ports: OsdPassPorts, names: readonly string[]): Promise<string[]> {
  const { tools, cluster, process } = ports
  const namespace = cluster.metadata.namespace ?? ''
  const awaited = new Map<string, number>()
  for (const name of names) {
    const before = await tools.api.get(deployments, { namespace, name }).catch(() => undefined)
    const after = before && wanted(before, cluster)
    if (before === undefined || after === undefined) continue
    await tools.api.update(deployments, after)
    awaited.set(name, before.status?.observedGeneration ?? 0)
  }
  const osds = [...awaited.keys()].filter((name) => name.startsWith('rook-ceph-osd-'))
  if (osds.length > 0) ports.batches.push(osds.map((name) => Number(name.slice('rook-ceph-osd-'.length))))
  const failures: string[] = []
  const end = tools.clock.now() + patienceMs
  while (awaited.size > 0 && !process.aborted) {
    await sleep(tools.clock, pollMs, process)
    for (const [name, generation] of awaited) {
      const now = await tools.api.get(deployments, { namespace, name }).catch(() => undefined)
      const { observedGeneration = 0, updatedReplicas = 0, readyReplicas = 0 } = now?.status ?? {}
      const isStuck = now !== undefined && conditionOf(now, 'Progressing')?.reason === 'ProgressDeadlineExceeded'
      if (isStuck || tools.clock.now() >= end) failures.push(`failed to update OSD deployment "${name}"`)
      const isDone = observedGeneration !== generation && updatedReplicas > 0 && readyReplicas > 0
      if (isDone || isStuck || tools.clock.now() >= end || now === undefined) awaited.delete(name)
    }
  }
  return failures
}

/** The Deployment as Rook makes it: whatever others put on it is gone. Undefined: it would be the same. */
function wanted(deployment: Deployment, { spec }: CephCluster): Deployment | undefined {
  const { metadata, spec: had } = deployment
  const [first, ...others] = had.template.spec.containers
  if (first === undefined) return undefined
  const image = spec?.cephVersion?.image ?? first.image
  const resources = metadata.labels?.['app'] === 'rook-ceph-osd' ? spec?.resources?.['osd'] : undefined
  const isSame = image === first.image && JSON.stringify(resources ?? {}) === JSON.stringify(first.resources ?? {})
  if (isSame) return undefined
  const { resources: _, ...bare } = first
  const container = { ...bare, ...(image !== undefined && { image }), ...(resources !== undefined && { resources }) }
  const { [skipLabel]: __, ...labels } = metadata.labels ?? {}
  const { name, namespace, ownerReferences } = metadata
  const kept = metadata.annotations?.[revision]
  return {
    apiVersion: deployment.apiVersion,
    kind: deployment.kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      labels,
      ...(kept !== undefined && { annotations: { [revision]: kept } }),
      ...(ownerReferences !== undefined && { ownerReferences }),
    },
    spec: { ...had, template: { ...had.template, spec: { ...had.template.spec, containers: [container, ...others] } } },
  }
}

function idOf({ metadata }: Deployment): number {
  return Number(metadata.labels?.['ceph-osd-id'])
}
