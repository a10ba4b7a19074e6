import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { type CephCluster, cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { OwnerReference } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { LabelSelector } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { configMaps, deployments, nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { type Actor, type ActorPorts, openTools } from '../../actor.ts'
import type { CephCommands } from '../ceph-commands.ts'
import { decideRookDrain } from './drain-rules.ts'

export interface RookBudgetOptions {
  readonly cluster: { readonly namespace: string; readonly name: string }
  readonly commands: CephCommands
  /** The type of failure domain that the pools of the cluster say. */
  readonly failureDomainType: string
}

export const rookOperatorLabels = { operator: 'rook', 'storage-backend': 'ceph' }

const defaultName = 'rook-ceph-osd'
const stateMap = 'rook-ceph-pdbstatemap'
const monName = 'rook-ceph-mon-pdb'
const mgrName = 'rook-ceph-mgr-pdb'
/** A change of the CephCluster restarts the whole manager. */
const restartMs = 5_000
const activeMs = 15_000
const lessActiveMs = 30_000
const silentMs = 10_000
const monCheckMs = 45_000
const clean = /^active(\+(clean|deep|scrubbing|snaptrim|snaptrim_wait))+$/

/**
 * Keeps budgets as Rook's own operator does: the default or the blocking ones of OSDs with its state ConfigMap and noout while
 * `managePodBudgets` says so, that of mons likewise, that of mgrs whatever it says. It acts while a Deployment with Rook's labels has replicas in
 * the namespace of the cluster, and cleans nothing up when it is told to stop.
 */
export function startRookBudgets(ports: ActorPorts, options: RookBudgetOptions): Actor {
  const tools = openTools('rook', ports)
  const { api, clock, views } = tools
  const { cluster, commands, failureDomainType: type } = options
  const { namespace } = cluster
  const operators = views.of(deployments)
  const seenBudgets = views.of(podDisruptionBudgets)
  const seenClusters = views.of(cephClusters)
  let requeue: (() => void) | undefined
  const queue = tools.queue({ needs: [operators, seenBudgets, seenClusters], work, concurrency: 1 })

  function runs(): boolean {
    return [...operators.values()].some(
      ({ metadata, spec }) =>
        metadata.namespace === namespace && isRook(metadata.labels ?? {}) && (spec.replicas ?? 1) > 0,
    )
  }

  function after(ms: number, key = 'osds'): void {
    if (key === 'osds') requeue?.()
    const cancel = clock.after(ms, () => queue.add(key))
    if (key === 'osds') requeue = cancel
    tools.onStop(cancel)
  }

  async function work(key: string): Promise<void> {
    if (!runs()) return
    const owner = await api.get(cephClusters, cluster)
    if (key === 'daemons') return reconcileDaemons(owner)
    try {
      await reconcileOsds(owner)
    } catch (error) {
      after(silentMs)
      throw error
    }
  }

  async function reconcileDaemons(owner: CephCluster): Promise<void> {
    after(monCheckMs, 'daemons')
    if ((owner.spec?.mgr?.count ?? 2) > 1) await apply(mgrName, { maxUnavailable: 1, selector: of('rook-ceph-mgr') })
    if (!manages(owner)) return
    const { quorum, monmap } = await ask<{ quorum: number[]; monmap: { mons: object[] } }>('quorum_status')
    const { length } = monmap.mons
    if (length < 3) return
    const maxUnavailable = Math.max(0, (length >= 5 ? 2 : 1) - (length - quorum.length))
    await apply(monName, { maxUnavailable, selector: of('rook-ceph-mon') })
  }

  async function reconcileOsds(owner: CephCluster): Promise<void> {
    if (!manages(owner)) return
    const { items } = await api.list(deployments, { namespace, labelSelector: 'app=rook-ceph-osd' })
    const { items: machines } = await api.list(nodes)
    const open = new Set(machines.flatMap(({ metadata, spec }) => (spec?.unschedulable ? [] : [metadata.name])))
    const osds = items.map((osd) => ({
      id: Number(osd.metadata.labels?.['ceph-osd-id']),
      domain: osd.metadata.labels?.[`topology-location-${type}`] ?? '',
      isDown: (osd.status?.readyReplicas ?? 0) < 1,
      isOnDrainedNode: !open.has(osd.spec.template.spec.nodeSelector?.['kubernetes.io/hostname'] ?? ''),
    }))
    const isClean = await arePgsClean()
    const map = await readMap()
    const minutes = owner.spec?.disruptionManagement?.osdMaintenanceTimeout || 30
    const { state, draining, excluded, noout } = decideRookDrain({
      nowMs: clock.now(),
      osds,
      isClean,
      state: map?.data ?? {},
      maintenanceTimeoutMs: minutes * 60_000,
    })
    await writeMap(map, state)
    const domains = [...new Set(osds.map(({ domain }) => domain))].sort()
    await setNoout(domains, noout)
    if (draining === '') {
      await apply(defaultName, { maxUnavailable: 1, selector: everyOsdBut(excluded) }, owner)
      for (const domain of domains) await remove(blockingName(domain))
      const allowed = seenBudgets.get(`${namespace}/${defaultName}`)?.status?.disruptionsAllowed
      if (allowed === 0 || excluded.length > 0) after(lessActiveMs)
      return
    }
    for (const domain of domains.filter((each) => each !== draining)) {
      const selector = { matchLabels: { [`topology-location-${type}`]: domain } }
      await createOnce(blockingName(domain), { maxUnavailable: 0, selector }, owner)
    }
    await remove(blockingName(draining))
    await remove(defaultName)
    after(activeMs)
  }

  function blockingName(domain: string): string {
    return `${defaultName}-${type}-${domain}`
  }

  async function setNoout(domains: readonly string[], wanted: string | undefined): Promise<void> {
    const { crush_node_flags: flags = {} } = await ask<{ crush_node_flags?: Record<string, string[]> }>('osd dump')
    for (const domain of domains) {
      const isSet = flags[domain]?.includes('noout') === true
      if (isSet === (domain === wanted)) continue
      const prefix = isSet ? 'osd unset-group' : 'osd set-group'
      await commands.run({ prefix, flags: 'noout', who: [domain] })
    }
  }

  async function readMap(): Promise<ConfigMap | undefined> {
    try {
      return await api.get(configMaps, { namespace, name: stateMap })
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error
      return undefined
    }
  }

  async function writeMap(map: ConfigMap | undefined, data: Readonly<Record<string, string>>): Promise<void> {
    const metadata = { namespace, name: stateMap }
    if (map === undefined) await api.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
    else if (!isSameJson(map.data ?? {}, data)) await api.update(configMaps, { ...map, data })
  }

  async function arePgsClean(): Promise<boolean> {
    const { pgmap } = await ask<{ pgmap: { num_pgs: number; pgs_by_state?: PgState[] } }>('status')
    const counted = (pgmap.pgs_by_state ?? []).filter(({ state_name }) => clean.test(state_name))
    return counted.reduce((sum, { count }) => sum + count, 0) === pgmap.num_pgs
  }

  async function ask<T>(prefix: string): Promise<T> {
    const { code, out, err } = await commands.run({ prefix, format: 'json' })
    if (code !== 0) throw new Error(`${prefix}: ${err}`)
    return JSON.parse(out) as T
  }

  /** Creates it, or writes its spec again. */
  async function apply(name: string, spec: PodDisruptionBudget['spec'], owner?: CephCluster): Promise<void> {
    const seen = await createOnce(name, spec, owner)
    if (seen === undefined || isSameJson(seen.spec, spec)) return
    await api.update(podDisruptionBudgets, { ...seen, spec })
  }

  /** Returns the budget that has the name already. */
  async function createOnce(
    name: string,
    spec: PodDisruptionBudget['spec'],
    owner: CephCluster | undefined,
  ): Promise<PodDisruptionBudget | undefined> {
    try {
      return await api.get(podDisruptionBudgets, { namespace, name })
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error
    }
    const { apiVersion, kind, metadata } = owner ?? {}
    const ownerReferences =
      metadata === undefined
        ? undefined
        : [{ apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true } as OwnerReference]
    await api.create(podDisruptionBudgets, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { namespace, name, ...(ownerReferences && { ownerReferences }) },
      spec,
    })
    return undefined
  }

  async function remove(name: string): Promise<void> {
    try {
      await api.delete(podDisruptionBudgets, { namespace, name })
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error
    }
  }

  function wakeAll(): void {
    after(restartMs)
    after(restartMs, 'daemons')
  }

  tools.onStop(
    seenClusters.subscribe(({ key, before, after: now }) => {
      if (key !== `${namespace}/${cluster.name}` || now === undefined) return
      if (before === undefined || !isSameJson(before.spec, now.spec)) wakeAll()
    }),
  )
  tools.onStop(
    operators.subscribe(({ before, after: now }) => {
      if (now === undefined || now.metadata.namespace !== namespace || !isRook(now.metadata.labels ?? {})) return
      if ((before?.spec.replicas ?? 0) === 0 && (now.spec.replicas ?? 1) > 0) wakeAll()
    }),
  )
  tools.onStop(
    seenBudgets.subscribe(({ key, after: now }) => {
      const isUsedUp = now?.spec.maxUnavailable === 1 && now.status?.disruptionsAllowed === 0
      if (key === `${namespace}/${defaultName}` && isUsedUp) queue.add('osds')
    }),
  )
  wakeAll()
  return { stop: tools.stop }
}

interface PgState {
  readonly state_name: string
  readonly count: number
}

/** As Rook's chart makes it; whoever scales it to 0 stops it. */
export function rookOperatorDeployment(namespace: string): Deployment {
  const labels = { app: 'rook-ceph-operator', ...rookOperatorLabels }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name: 'rook-ceph-operator', labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'rook-ceph-operator' } },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'rook-ceph-operator', image: 'registry.example/rook/ceph:v1.18.8' }] },
      },
    },
  }
}

function isRook(labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(rookOperatorLabels).every(([key, value]) => labels[key] === value)
}

function manages({ spec }: CephCluster): boolean {
  return spec?.disruptionManagement?.managePodBudgets === true
}

function of(app: string): LabelSelector {
  return { matchLabels: { app } }
}

function everyOsdBut(ids: readonly number[]): LabelSelector {
  const isOsd = { key: 'app', operator: 'In' as const, values: ['rook-ceph-osd'] }
  const values = [...ids].sort((a, b) => a - b).map(String)
  return { matchExpressions: ids.length === 0 ? [isOsd] : [isOsd, { key: 'osd', operator: 'NotIn', values }] }
}
