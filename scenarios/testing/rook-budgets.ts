import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { LabelSelector } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { deployments, nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'

export interface RookBudgetPorts {
  readonly api: KubeApi
  readonly clock: Clock
  readonly views: Views
  readonly ceph: CephCommands
  readonly cluster: { readonly namespace: string; readonly name: string }
}

const defaultName = 'rook-ceph-osd'
const hostLabel = 'topology-location-host'
const requeueMs = 15_000
const clean = /^active(\+(clean|deep|scrubbing|snaptrim|snaptrim_wait))+$/

/**
 * Keeps OSD budgets as Rook's own operator does with `managePodBudgets`: one for all that lets a single OSD go, and while an OSD is
 * down with unclean data one for every other host that lets none go. Both are there for a moment while they are exchanged.
 */
export function startRookBudgets({ api, clock, views, ceph, cluster }: RookBudgetPorts): { stop(): void } {
  const { namespace } = cluster
  let draining: string | undefined
  let isStopped = false
  let work: Promise<void> = Promise.resolve()

  const wake = () => {
    work = work.then(() => (isStopped ? undefined : reconcile())).catch(() => undefined)
  }
  const end = views.of(podDisruptionBudgets).subscribe(({ after }) => {
    if (after?.metadata.name === defaultName && after.status?.disruptionsAllowed === 0) wake()
  })
  void (async () => {
    while (!isStopped) {
      wake()
      await sleep(clock, requeueMs)
    }
  })()

  async function reconcile(): Promise<void> {
    const osds = await api.list(deployments, { namespace, labelSelector: 'app=rook-ceph-osd' })
    const { items: machines } = await api.list(nodes)
    const cordoned = new Set(machines.flatMap(({ metadata, spec }) => (spec?.unschedulable ? metadata.name : [])))
    const down = osds.items.filter(({ status }) => (status?.readyReplicas ?? 0) < 1)
    const drained = down.filter(({ spec }) =>
      cordoned.has(spec.template.spec.nodeSelector?.['kubernetes.io/hostname'] ?? ''),
    )
    const hosts = [...new Set(osds.items.map(hostOf))].sort()
    const isClean = await arePgsClean()
    if (isClean && down.length === 0) draining = undefined
    if (!isClean && down.length > 0) {
      const away = (drained.length > 0 ? drained : down).map(hostOf).sort()
      if (draining === undefined || !away.includes(draining)) draining = away[0]
    }
    if (draining !== undefined) {
      for (const host of hosts) if (host !== draining) await create(`${defaultName}-host-${host}`, 0, blocking(host))
      await remove(`${defaultName}-host-${draining}`)
      return remove(defaultName)
    }
    await create(defaultName, 1, everyOsdBut(isClean ? down.map(({ metadata }) => metadata.labels?.['osd'] ?? '') : []))
    for (const host of hosts) await remove(`${defaultName}-host-${host}`)
  }

  async function arePgsClean(): Promise<boolean> {
    const { out } = await ceph.run({ prefix: 'status', format: 'json' })
    const { pgmap } = JSON.parse(out) as { pgmap: { num_pgs: number; pgs_by_state?: State[] } }
    const counted = (pgmap.pgs_by_state ?? []).filter(({ state_name }) => clean.test(state_name))
    return counted.reduce((sum, { count }) => sum + count, 0) === pgmap.num_pgs
  }

  async function create(name: string, maxUnavailable: number, selector: LabelSelector): Promise<void> {
    const owner = await api.get(cephClusters, cluster)
    const { apiVersion, kind, metadata } = owner
    const { uid = '' } = metadata
    const budget: PodDisruptionBudget = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: {
        name,
        namespace,
        ownerReferences: [{ apiVersion, kind, name: metadata.name, uid, controller: true }],
      },
      spec: { maxUnavailable, selector },
    }
    try {
      await api.create(podDisruptionBudgets, budget)
    } catch (error) {
      if (!hasReason(error, 'AlreadyExists')) throw error
      await api.patch(podDisruptionBudgets, { namespace, name }, {
        type: 'merge',
        body: { spec: { selector } },
      } as never)
    }
  }

  async function remove(name: string): Promise<void> {
    try {
      await api.delete(podDisruptionBudgets, { namespace, name })
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error
    }
  }

  return {
    stop() {
      isStopped = true
      end()
    },
  }
}

interface State {
  readonly state_name: string
  readonly count: number
}

function hostOf({ metadata }: Deployment): string {
  return metadata.labels?.[hostLabel] ?? ''
}

function blocking(host: string): LabelSelector {
  return { matchLabels: { [hostLabel]: host } }
}

function everyOsdBut(ids: readonly string[]): LabelSelector {
  const isOsd = { key: 'app', operator: 'In' as const, values: ['rook-ceph-osd'] }
  return { matchExpressions: ids.length === 0 ? [isOsd] : [isOsd, { key: 'osd', operator: 'NotIn', values: [...ids] }] }
}
