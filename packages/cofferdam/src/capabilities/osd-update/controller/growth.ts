import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { ViewChange } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Controller } from '@cofferdam/kubernetes/runtime/controller.ts'
import { followClusters, splitKey } from '../../../ceph/reader/follow-clusters.ts'
import type { RookPresence } from '../../../ceph/reader/rook-presence.ts'
import { type CephTrust, type ClusterName, nameOf } from '../../../shared/ceph-trust/named-clusters.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import type { Permission } from '../../../shared/permission.ts'
import { createOsd, deleteJob, deleteStatus, type GrowthOutcome, markUsed, startPrepare } from '../apply/growth.ts'
import { decideGrowth, type GrowthDecision } from '../domain/decide-growth.ts'
import { type GrowthPlace, placedOsd } from '../domain/growth-places.ts'
import { growthMode, type OsdUuids } from '../domain/growth-snapshot.ts'
import type { NewOsd } from '../domain/new-osd.ts'
import { statusMapName } from '../domain/prepare-status.ts'
import { isRightMissing } from '../domain/start-outcome.ts'
import { type GrowthLook, type GrowthViews, lookAtGrowth, wishOf } from '../observe/growth.ts'
import { type GrowthReports, OsdGrowthReporter } from '../report/growth.ts'

export const osdGrowthPermissions: readonly Permission[] = [
  { group: 'ceph.rook.io', resource: 'cephclusters', verbs: ['list', 'watch'] },
  { group: '', resource: 'nodes', verbs: ['list', 'watch'] },
  { group: 'batch', resource: 'jobs', grantedBy: 'ceph-grow-osds', verbs: ['list', 'watch', 'create', 'delete'] },
  {
    group: '',
    resource: 'configmaps',
    grantedBy: 'ceph-grow-osds',
    verbs: ['list', 'watch', 'create', 'update', 'delete'],
  },
  {
    group: '',
    resource: 'persistentvolumeclaims',
    grantedBy: 'ceph-grow-osds',
    verbs: ['list', 'watch', 'create'],
  },
  { group: 'apps', resource: 'deployments', grantedBy: 'ceph', verbs: ['list', 'watch'] },
  { group: 'apps', resource: 'deployments', grantedBy: 'ceph-grow-osds', verbs: ['create'] },
  { group: '', resource: 'events', verbs: ['create'] },
]

export interface OsdGrowthPorts {
  readonly api: KubeApi
  readonly views: GrowthViews
  readonly rook: RookPresence
  readonly reports: GrowthReports
  /** Where OSDs are added at all, and with which image. */
  readonly trust: CephTrust
  /** A word that nobody has had before. */
  newNonce(): string
  observeOsdUuids(cluster: ClusterName, signal: AbortSignal): Promise<Observed<OsdUuids>>
}

/** How many objects are written at a time; a change of the cluster counts after each such group. */
const groupSize = 20
/** Ceph did not answer; nobody tells when it does. */
const askAgainSeconds = 10

/**
 * Adds OSDs: has every place that a CephCluster names looked at by a prepare Job, and makes the OSDs that come out. Keys are
 * `namespace/name` of CephClusters.
 *
 * Guarantees: it knows nothing of updates, so none can hold it up. Ceph is asked only while a result waits to be used. Every reconcile is one look, one decision and
 * its writes; a failed place is recorded and the others go on. While nothing is to do nothing is written.
 */
export function createOsdGrowth(ports: OsdGrowthPorts): Controller {
  const { api, views, rook, reports } = ports
  const reporter = new OsdGrowthReporter(reports)
  const needed = [...Object.values(views), rook.operators] as const

  return {
    name: 'osd-growth',

    async start(enqueue, signal) {
      const { clusters, nodes, jobs, statuses, osdDeployments, claims } = views
      const follower = followClusters(clusters, signal)
      follower.followSelf(enqueue)
      for (const view of [jobs, statuses, claims]) follower.follow(view, enqueue)
      follower.follow(osdDeployments, (key, change) => {
        if (change.type !== 'changed') enqueue(key)
      })
      follower.followForAll(rook.operators, enqueue)
      const tell = (change: ViewChange<Node>) => {
        if (change.type === 'changed' && isSameJson(change.previous, change.value)) return
        for (const cluster of clusters.list()) enqueue(keyText(keyOf(cluster)))
      }
      signal.addEventListener('abort', nodes.subscribe(tell), { once: true })
      await Promise.all(needed.map((view) => view.whenSynced(signal)))
      for (const cluster of clusters.list()) enqueue(keyText(keyOf(cluster)))
    },

    async reconcile(key, signal) {
      const cluster = views.clusters.get(splitKey(key))
      if (cluster === undefined) return reporter.forget(key) ?? undefined
      const mode = growthMode(cluster, { trust: ports.trust, rookRuns: rook.isContested(cluster) })
      if (!mode.isOn) return (await reporter.reportOff(key, cluster, mode.explanation)) ?? undefined
      const look = await observe(cluster, signal)
      const turn = { cluster, look, rookImage: mode.rookImage, decision: decideGrowth(look.snapshot), signal }
      try {
        await write(key, turn)
      } catch (error) {
        if (isRightMissing(error)) await reporter.reportRefusal(key, cluster, error.message)
        throw error
      }
      return turn.decision.needsCeph ? { recheckAfterSeconds: askAgainSeconds } : undefined
    },
  }

  /** Ceph is asked first, and then all of Kubernetes is looked at again. */
  async function observe(cluster: CephCluster, signal: AbortSignal): Promise<GrowthLook> {
    const first = lookAtGrowth(views, cluster)
    if (!decideGrowth(first.snapshot).needsCeph) return first
    const fsid = cluster.status?.ceph?.fsid ?? ''
    const seen = await ports.observeOsdUuids(nameOf(cluster), signal)
    const isOther = seen.known && fsid !== '' && seen.value.fsid !== fsid
    if (isOther) return lookAtGrowth(views, cluster, unknown(`Ceph ${seen.value.fsid} answers, and not ${fsid}`))
    return lookAtGrowth(views, cluster, seen.known ? known(seen.value.uuids) : seen)
  }

  async function write(key: string, turn: Turn): Promise<void> {
    const wish = wishOf(turn.cluster)
    const isVoid = () => {
      const now = views.clusters.get(splitKey(key))
      return turn.signal.aborted || now === undefined || wishOf(now) !== wish
    }
    const made = await inGroups(turn.decision.create, isVoid, (osd) => makeOsd(turn, osd))
    const marked = await inGroups(turn.decision.used, isVoid, (name) => useUp(turn, name, made))
    const begun = await inGroups(turn.decision.prepare, isVoid, (name) => prepare(turn, name))
    const swept = await inGroups(removals(turn), isVoid, (remove) => remove())
    const asked = new Map(turn.look.snapshot.places.map((place) => [place.name, place.asked]))
    const added = made.filter(({ outcome }) => outcome.result === 'made')
    await reporter.report(key, turn.cluster, {
      added: added.map(({ osd: { id }, place }) => ({ id, place })),
      prepared: begun.flatMap(({ place, outcome }) => (outcome.result === 'made' ? [place] : [])),
      // What was refused just now is in the statuses, which the next look reads.
      errors: turn.decision.errors.map(({ place, why }) => ({ place, why, asked: asked.get(place) ?? '' })),
      awaited: turn.decision.awaited.length + turn.decision.prepare.length,
      unusable: turn.decision.unusable.length,
    })
    const outcomes = [...made, ...begun].map(({ outcome }) => outcome).concat(marked, swept)
    const unsure = outcomes.find((outcome) => outcome.result === 'unsure')
    if (unsure?.result === 'unsure') throw unsure.error
  }

  async function makeOsd({ cluster, look, signal }: Turn, osd: NewOsd): Promise<Made> {
    const name = placeOf(osd)
    const place = look.snapshot.places.find((one) => one.name === name)
    const placed = place === undefined ? osd : placedOsd(osd, { cluster, place, nodes: look.nodes })
    const outcome = await createOsd(api, { cluster, osd: placed }, signal)
    return { osd, place: name, outcome }
  }

  /** Whether all of its OSDs could be made or not, but not before each was tried. */
  async function useUp({ look, decision, signal }: Turn, name: string, made: readonly Made[]): Promise<GrowthOutcome> {
    const status = look.statuses.get(name)
    const parsed = look.snapshot.statuses.find((one) => 'status' in one && one.status.name === name)
    if (status === undefined || parsed === undefined || !('status' in parsed)) return { result: 'passed' }
    const { place } = parsed.status
    const tried = new Map(made.filter((one) => one.place === place).map((one) => [one.osd.id, one.outcome]))
    const isLeft = ({ id }: NewOsd) => (tried.get(id)?.result ?? 'unsure') === 'unsure'
    if (decision.create.some((osd) => placeOf(osd) === place && isLeft(osd))) return { result: 'passed' }
    const trouble = [...tried].flatMap(([id, outcome]) =>
      outcome.result === 'refused' ? [`osd.${id} was refused: ${outcome.why}`] : [],
    )
    return markUsed(api, { status, trouble: trouble.join('; ') }, signal)
  }

  async function prepare({ cluster, look, rookImage, signal }: Turn, name: string): Promise<Begun> {
    const place = look.snapshot.places.find((one) => one.name === name) as GrowthPlace
    const previous = look.statuses.get(statusMapName(name))
    const given = { cluster, place, rookImage, previous, nonce: ports.newNonce() }
    const outcome = await startPrepare(api, given, signal)
    return { place: name, outcome }
  }

  function removals({ look, decision, signal }: Turn): (() => Promise<GrowthOutcome>)[] {
    const jobs = decision.cleanJobs.flatMap((name) => {
      const job = look.jobs.get(name)
      return job === undefined || job.metadata.deletionTimestamp !== undefined ? [] : [job]
    })
    const statuses = decision.cleanStatuses.flatMap((name) => look.statuses.get(name) ?? [])
    return [
      ...jobs.map((job) => () => deleteJob(api, job, signal)),
      ...statuses.map((status) => () => deleteStatus(api, status, signal)),
    ]
  }
}

interface Turn {
  readonly cluster: CephCluster
  readonly look: GrowthLook
  readonly rookImage: string
  readonly decision: GrowthDecision
  readonly signal: AbortSignal
}

interface Begun {
  readonly place: string
  readonly outcome: GrowthOutcome
}

interface Made extends Begun {
  readonly osd: NewOsd
}

function placeOf({ pvc, node }: NewOsd): string {
  return pvc ?? node ?? ''
}

/** Ends early when the decision is void: the change that made it so has asked for another look. */
async function inGroups<T, R>(items: readonly T[], isVoid: () => boolean, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let at = 0; at < items.length && !isVoid(); at += groupSize) {
    results.push(...(await Promise.all(items.slice(at, at + groupSize).map(work))))
  }
  return results
}
