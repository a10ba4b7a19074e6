import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Node, Taint } from '@cofferdam/kubernetes/api/core.ts'
import {
  excludedFromRemediation,
  maintenanceTaint,
  type NodeMaintenance,
  nodeMaintenances,
} from '@cofferdam/kubernetes/api/kinds/node-maintenance.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type ActorPorts, openTools, type RestartedActor } from '../actor.ts'
import { freeNodeLease, takeNodeLease } from '../machines/node-lease.ts'
import { podsToLeave, runNodeDrain, setCordon } from './kubectl-drain.ts'

const finalizer = 'foregroundDeleteNodeMaintenance'
const holder = 'node-maintenance'
const leaseSeconds = 3_600
const drainMs = 30_000
const retryMs = 5_000
const firstBackoffMs = 5
const longestBackoffMs = 1_000_000
const mostLeaseErrors = 3
const taints: readonly Taint[] = [
  { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' },
  { key: maintenanceTaint, effect: 'NoSchedule' },
]

type Status = NonNullable<NodeMaintenance['status']> & { readonly lastUpdate?: string }

/**
 * The Node Maintenance Operator of medik8s. One NodeMaintenance at a time: it takes the Lease of the node, excludes it from remediation,
 * taints and cordons it, and drains it for thirty seconds; then the next has its turn. What refuses an eviction is tried again for ever.
 */
export function createNodeMaintenanceOperator(ports: ActorPorts): RestartedActor {
  const tools = openTools('node-maintenance-operator', ports)
  const { api, clock } = tools
  const view = tools.views.of(nodeMaintenances)
  const failures = new Map<string, number>()
  const queue = tools.queue({ needs: [view], work: reconcile, concurrency: 1 })

  async function reconcile(name: string): Promise<void> {
    const maintenance = await found(api.get(nodeMaintenances, { name }))
    if (maintenance === undefined) return
    if (maintenance.metadata.deletionTimestamp !== undefined) return end(maintenance)
    const begun = await begin(maintenance)
    const nodeName = begun.spec?.nodeName ?? ''
    const node = await found(api.get(nodes, { name: nodeName }))
    if (node === undefined) return write(begun, { phase: 'Failed', lastError: `nodes "${nodeName}" not found` })
    const { errorOnLeaseCount = 0, drainProgress = 0 } = begun.status ?? {}
    if (errorOnLeaseCount > mostLeaseErrors) {
      await giveBack(node)
      const lastError = `maintenance failed: lease could not be extended after ${errorOnLeaseCount} attempts`
      return write(begun, { phase: 'Failed', lastError })
    }
    if (!(await takeNodeLease(tools, node, holder, leaseSeconds))) {
      const counted = drainProgress > 0 ? { errorOnLeaseCount: errorOnLeaseCount + 1 } : {}
      await write(begun, { ...counted, lastError: 'the lease is held by another entity' })
      return tryLater(name)
    }
    failures.delete(name)
    await take(node)
    const problem = await runNodeDrain(tools, nodeName, { timeoutMs: drainMs })
    if (problem !== undefined) {
      await write(begun, { phase: 'Running', errorOnLeaseCount: 0, lastError: problem, ...(await progressOf(begun)) })
      return queue.addAfter(name, retryMs)
    }
    await write(begun, { phase: 'Succeeded', errorOnLeaseCount: 0, drainProgress: 100, pendingPods: [] })
  }

  /** The finalizer, and a first status. */
  async function begin(maintenance: NodeMaintenance): Promise<NodeMaintenance> {
    const { finalizers = [], name } = maintenance.metadata
    let begun = maintenance
    if (!finalizers.includes(finalizer)) {
      const metadata = { ...maintenance.metadata, finalizers: [...finalizers, finalizer] }
      begun = await api.update(nodeMaintenances, { ...maintenance, metadata })
    }
    if (begun.status?.phase !== undefined) return begun
    const leaving = await podsToLeave(tools, begun.spec?.nodeName ?? '')
    await write(begun, {
      phase: 'Running',
      evictionPods: leaving.length,
      pendingPods: leaving.map((pod) => pod.metadata.name),
    })
    return api.get(nodeMaintenances, { name })
  }

  async function progressOf({ spec, status }: NodeMaintenance): Promise<Status> {
    const pendingPods = (await podsToLeave(tools, spec?.nodeName ?? '')).map((pod) => pod.metadata.name)
    const { evictionPods = 0 } = status ?? {}
    if (evictionPods === 0) return { pendingPods }
    return { pendingPods, drainProgress: Math.trunc(((evictionPods - pendingPods.length) * 100) / evictionPods) }
  }

  /** The label comes first: by the time of the taint no health check remediates the node. */
  async function take(seen: Node): Promise<void> {
    const { name, labels = {} } = seen.metadata
    if (labels[excludedFromRemediation] !== 'true') await label(name, 'true')
    const node = await api.get(nodes, { name })
    const others = (node.spec?.taints ?? []).filter(({ key }) => !taints.some((taint) => taint.key === key))
    if (others.length + taints.length !== (node.spec?.taints ?? []).length) await taint(node, [...taints, ...others])
    await setCordon(tools, name, true)
  }

  async function giveBack(node: Node): Promise<void> {
    const { name } = node.metadata
    const left = (node.spec?.taints ?? []).filter(({ key }) => !taints.some((each) => each.key === key))
    if (left.length !== (node.spec?.taints ?? []).length) await taint(node, left)
    await setCordon(tools, name, false)
    await freeNodeLease(tools, name, holder)
    if (node.metadata.labels?.[excludedFromRemediation] === 'true') await label(name, null)
  }

  async function end(maintenance: NodeMaintenance): Promise<void> {
    const { finalizers = [] } = maintenance.metadata
    if (!finalizers.includes(finalizer)) return
    const name = maintenance.spec?.nodeName ?? ''
    const node = await found(api.get(nodes, { name }))
    if (node === undefined) await freeNodeLease(tools, name, holder)
    else await giveBack(node)
    const metadata = { ...maintenance.metadata, finalizers: finalizers.filter((each) => each !== finalizer) }
    await api.update(nodeMaintenances, { ...maintenance, metadata })
  }

  async function taint({ metadata }: Node, wanted: readonly Taint[]): Promise<void> {
    const body = { metadata: { resourceVersion: metadata.resourceVersion }, spec: { taints: wanted } }
    await api.patch(nodes, { name: metadata.name }, { type: 'merge', body: body as never })
  }

  async function label(name: string, value: string | null): Promise<void> {
    const body = { metadata: { labels: { [excludedFromRemediation]: value } } }
    await api.patch(nodes, { name }, { type: 'merge', body })
  }

  async function write({ metadata: { name } }: NodeMaintenance, changes: Status): Promise<void> {
    const held = await api.get(nodeMaintenances, { name })
    const status: Status = { ...held.status, ...changes, lastUpdate: timestamp(clock) }
    await api.update(nodeMaintenances, { ...held, status }, { subresource: 'status' })
  }

  function tryLater(name: string): void {
    const count = failures.get(name) ?? 0
    failures.set(name, count + 1)
    queue.addAfter(name, Math.min(firstBackoffMs * 2 ** count, longestBackoffMs))
  }

  // Its own writes count too, so one turn follows the other until a turn changes nothing.
  tools.onStop(view.subscribe(({ key, after }) => (after === undefined ? undefined : queue.add(key))))
  return {
    stop: tools.stop,
    restart() {
      failures.clear()
      for (const { metadata } of view.values()) queue.add(metadata.name)
    },
  }
}

async function found<T>(asked: Promise<T>): Promise<T | undefined> {
  return asked.catch((error: unknown) => {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  })
}
