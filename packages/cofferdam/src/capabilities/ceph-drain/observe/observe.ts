import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { CephCommands } from '../../../ceph/ceph-commands.ts'
import { ofSameCluster } from '../../../ceph/of-same-cluster.ts'
import type { CephLogWatch, LogHint } from '../../../ceph/reader/ceph-log-watch.ts'
import type { CephPorts } from '../../../ceph/reader/ceph-ports.ts'
import { type AcceptedAge, type CephAnswer, type CephReader, defaultCalmMs } from '../../../ceph/reader/ceph-reader.ts'
import type { RookPresence } from '../../../ceph/reader/rook-presence.ts'
import type { CephMap } from '../../../safety/ceph-map.ts'
import { parseCephCluster } from '../../../safety/ceph-settings.ts'
import type { CephView } from '../../../safety/ceph-view.ts'
import { countedMap, ignoredPoolProblems } from '../../../safety/ignored-pools.ts'
import { mapProblems } from '../../../safety/map-problems.ts'
import { type NodeOfHostname, soleNode } from '../../../shared/node-hostnames.ts'
import type { ObjectProblem } from '../../../shared/object-problem.ts'
import { known, type Observed } from '../../../shared/observed.ts'
import { indexOfOsd, type OsdView, parseOsd } from '../../../shared/parse-osd.ts'
import { readRecord, recordName, unreadRecord } from '../apply/record.ts'
import { parseDaemon } from '../domain/cluster-objects.ts'
import type { CephDrainDecision } from '../domain/decision.ts'
import type { DrainRecord } from '../domain/drain-record.ts'
import { catchUpMs, osdsOnLostNodes } from '../domain/lost-nodes.ts'
import { parseOsdBudget } from '../domain/osd-budgets.ts'
import type { CephDrainSnapshot, DaemonView, NodeView } from '../domain/snapshot.ts'
import { observeServiceDaemons } from './service-daemons.ts'

/** What is read of Kubernetes. Clusters, Deployments and budgets are indexed by `namespace`. */
export interface CephDrainViews {
  readonly clusters: WatchView<CephCluster>
  readonly osdDeployments: WatchView<Deployment>
  /** Indexed by `osd`, as `indexOfOsd` says. */
  readonly osdPods: WatchView<Pod>
  /** Indexed by `hostname`. */
  readonly nodes: WatchView<NodeView>
  readonly budgets: WatchView<PodDisruptionBudget>
  /** Deployments of mons and mgrs. */
  readonly daemonDeployments: WatchView<Deployment>
  readonly daemonPods: WatchView<Pod>
  /** Of MDS, NFS servers and NVMe-oF gateways, indexed by `namespace`. */
  readonly serviceDeployments: WatchView<Deployment>
  readonly servicePods: WatchView<Pod>
}

export interface ObserverPorts {
  readonly api: Pick<KubeApi, 'get'>
  readonly clock: Clock
  readonly views: CephDrainViews
  readonly ceph: CephPorts
  readonly rook: Pick<RookPresence, 'surroundings'>
  /** How old an answer of Ceph may be in calm times. Default: a minute. */
  readonly calmMs?: number
  /** Follows the cluster logs of those that are polled. */
  readonly log?: Pick<CephLogWatch, 'follow'>
}

/** One snapshot of a cluster, and what is needed to act on it. */
export interface Seen {
  readonly snapshot: CephDrainSnapshot
  readonly record: DrainRecord
  /** The objects that `snapshot.budgets` were read from. */
  readonly budgets: readonly PodDisruptionBudget[]
  readonly ceph: CephCommands | undefined
  readonly map: CephMap | undefined
  /** When Ceph was asked last, of those times that it answered. */
  readonly cephAskedAtMs: number | undefined
  readonly silentSince: number | undefined
  readonly problems: readonly ObjectProblem[]
}

const calmSeconds = 60

/** Takes snapshots of clusters, and remembers what makes the next one cheaper. */
export class CephDrainObserver {
  readonly #ports: ObserverPorts
  readonly #reader: CephReader
  readonly #calmMs: number
  readonly #accepted = new Map<string, AcceptedAge>()
  /** By cluster: since when the same thing has not been known, although every report is new. */
  readonly #unsettled = new Map<string, { readonly explanation: string; readonly since: number }>()
  /** By cluster: the OSDs that ran in the last snapshot. */
  readonly #running = new Map<string, ReadonlySet<number>>()
  readonly #hosts = new Map<string, { readonly map: CephMap; readonly hosts: ReadonlyMap<number, string> }>()

  constructor(ports: ObserverPorts) {
    this.#ports = ports
    this.#reader = ports.ceph.reader
    this.#calmMs = ports.calmMs ?? defaultCalmMs
  }

  disturb(key: string): void {
    this.#reader.disturb(key)
  }

  /**
   * Something may have happened in Ceph: the next snapshot asks at least whether it did, and the caller takes one. Not so where only OSDs
   * are named that are away anyway, as in every drain, nor while Ceph is asked all the time to see it catch up.
   */
  takeHint(key: string, { osds, isRepeated }: LogHint): boolean {
    const isCatchingUp = this.#accepted.get(key)?.pace === 'unsettled'
    const isOfRunning = osds.some((id) => this.#running.get(key)?.has(id) !== false)
    const isTaken = isOfRunning ? !(isRepeated && isCatchingUp) : osds.length === 0 && !isRepeated && !isCatchingUp
    if (isTaken) this.#reader.hint(key)
    return isTaken
  }

  forget(key: string): void {
    this.#reader.forget(key)
    this.#accepted.delete(key)
    this.#unsettled.delete(key)
    this.#hosts.delete(key)
    this.#running.delete(key)
  }

  /**
   * Whether OSDs have gone that ran in the last snapshot, before all of Ceph is read: because they are on a node that has been lost since,
   * or because Ceph's log hinted at it and its mons say so.
   */
  async hasNewLoss(key: string, { metadata: { namespace = '', name } }: CephCluster, signal: AbortSignal) {
    if (this.#isNodeNewlyLost(key, namespace)) return true
    return this.#reader.hearsOfLoss({ key, ceph: this.#ports.ceph.of({ namespace, name }), signal })
  }

  #isNodeNewlyLost(key: string, namespace: string): boolean {
    const { views, clock } = this.#ports
    const nodes = [...views.nodes.list()]
    const running = this.#running.get(key)
    if (running === undefined || !nodes.some(({ lost }) => lost !== undefined)) return false
    const { views: osds } = parseOsds(views, namespace, this.#hosts.get(key)?.hosts)
    return [...osdsOnLostNodes(osds, nodes, clock.now()).keys()].some((id) => running.has(id))
  }

  /** `asks`: Ceph, where it is due; or nobody, and then what Ceph said last is in the snapshot, however old. */
  async observe(
    key: string,
    cluster: CephCluster,
    signal: AbortSignal,
    asks: 'ceph' | 'nobody' = 'ceph',
  ): Promise<Seen> {
    const { clock, views, ceph } = this.#ports
    const { namespace = '', name } = cluster.metadata
    const record = await this.#record(namespace, signal)
    const view = parseCephCluster(cluster, this.#ports.rook.surroundings(cluster))
    const { settings } = view
    const commands = ceph.of({ namespace, name })
    const pattern = ceph.compilePgPattern(settings.pgHealthyRegex)
    const isHealthyState = isHealthyBy(pattern.known ? pattern : ceph.compilePgPattern(undefined))
    this.#ports.log?.follow(key, commands)
    const mayAsk = asks === 'ceph'
    const answer: CephAnswer = mayAsk
      ? await this.#reader.poll({
          key,
          asker: 'ceph-drain',
          ceph: commands,
          accepts: this.#accepted.get(key) ?? { pace: 'unsettled' },
          isHealthyState,
          signal,
        })
      : this.#reader.last(key)
    const whole = ofSameCluster(answer.map, cluster)
    const map = whole.known ? known(countedMap(whole.value, settings.ignoredPools)) : whole
    const osds = await this.#osds({ key, namespace, map, commands: mayAsk ? commands : undefined, signal })
    const nodes = [...views.nodes.list()]
    const nowMs = clock.now()
    const lost = osdsOnLostNodes(osds.views, nodes, nowMs)
    const isGone = ({ id, isReady }: OsdView) => !isReady || lost.has(id)
    if (mayAsk) this.#running.set(key, new Set(osds.views.filter((osd) => !isGone(osd)).map(({ id }) => id)))
    const silentSince = map.known ? undefined : this.#silentSince(key, record, nowMs)
    const budgets = views.budgets.byIndex('namespace', namespace)
    return {
      record,
      budgets,
      ceph: commands,
      map: map.known ? map.value : undefined,
      cephAskedAtMs: answer.askedAtMs,
      silentSince,
      problems: [
        ...settings.warnings.map((problem) => ({ object: `cephcluster/${name}`, problem })),
        ...(pattern.known ? [] : [{ object: `cephcluster/${name}`, problem: `pgHealthyRegex ${pattern.why}` }]),
        ...ignoredPoolProblems(settings.ignoredPools, map.known ? map.value : undefined),
        ...(map.known ? mapProblems(map.value) : []),
        ...osds.problems,
      ],
      snapshot: {
        nowMs,
        cluster: view,
        osds: osds.views,
        nodes,
        ceph: map.known
          ? known(
              this.#reader.judge({
                map: map.value,
                failureDomainOverride: settings.failureDomainOverride,
                pattern: settings.pgHealthyRegex,
                isHealthyState,
                goneOsds: osds.views.filter(isGone).map(({ id }) => id),
                maxDomains: settings.maxDomains,
                wantedDomains: (judged) => domainsToLeave(judged, osds.views.filter(isGone), osds.views, nodes),
              }),
            )
          : map,
        // By one reading of the clock: the moment that is worked out from both must be the same in each snapshot.
        cephSilentMs: silentSince === undefined ? 0 : Math.max(0, nowMs - silentSince),
        state: record.state,
        daemons: observeDaemons(views, namespace),
        services: observeServiceDaemons(views, namespace),
        budgets: budgets.flatMap((budget) => parseOsdBudget(budget, view) ?? []),
      },
    }
  }

  /** When to reconcile again, and with that how much the next snapshot may rely on this one. */
  recheckAfterSeconds(key: string, { snapshot }: Seen, decision: CephDrainDecision): number | undefined {
    const { ceph, osds } = snapshot
    const wanted = decision.recheckAfterSeconds
    if (!ceph.known) {
      this.#accepted.set(key, { pace: 'unsettled' })
      return wanted
    }
    const up = new Set(ceph.value.upOsds)
    const isBehind = osds.some(({ id, isReady, isBeingReplaced }) => !isBeingReplaced && isReady !== up.has(id))
    const isCatchingUp = isBehind && this.#reader.sinceDisturbedMs(key) < catchUpMs
    if (ceph.value.pgs.health === 'unknown' || isCatchingUp) {
      this.#accepted.set(key, { pace: 'unsettled' })
      return Math.min(wanted ?? 2, 2)
    }
    const patient = this.#patientSeconds(key, decision)
    const isCalm = (patient ?? calmSeconds) >= calmSeconds
    this.#accepted.set(key, isCalm ? { pace: 'calm', calmMs: this.#calmMs } : { pace: 'busy' })
    const dueInSeconds = Math.max(1, Math.ceil(this.#reader.dueInMs(key, this.#calmMs) / 1000))
    return Math.min(patient ?? calmSeconds, dueInSeconds)
  }

  /** A recovery that has kept an answer open for long will not end within seconds: the longer it lasts, the later it is asked about. */
  #patientSeconds(key: string, { reason, explanation, noout, recheckAfterSeconds }: CephDrainDecision) {
    const now = this.#ports.clock.now()
    const isOpen = reason === 'SafetyUnknown' && noout.set.length + noout.unset.length === 0
    const before = this.#unsettled.get(key)
    const since = before?.explanation === explanation ? before.since : now
    if (isOpen) this.#unsettled.set(key, { explanation, since })
    else this.#unsettled.delete(key)
    if (!isOpen || recheckAfterSeconds === undefined) return recheckAfterSeconds
    return Math.max(recheckAfterSeconds, Math.min(calmSeconds, Math.floor((now - since) / 10_000)))
  }

  /** A record that cannot be read must not keep OSDs from being held. */
  async #record(namespace: string, signal: AbortSignal): Promise<DrainRecord> {
    const place = { namespace, name: recordName }
    try {
      return await readRecord(this.#ports.api, place, signal)
    } catch (error) {
      signal.throwIfAborted()
      return unreadRecord(place, error)
    }
  }

  #silentSince(key: string, record: DrainRecord, nowMs: number): number {
    return Math.min(this.#reader.silentSince(key) ?? nowMs, record.silentSince ?? nowMs)
  }

  /** Ceph is asked where OSDs live only when Kubernetes cannot say it of some, and once for each map. */
  async #osds({
    key,
    namespace,
    map,
    commands,
    signal,
  }: {
    readonly key: string
    readonly namespace: string
    readonly map: Observed<CephMap>
    readonly commands: CephCommands | undefined
    readonly signal: AbortSignal
  }): Promise<ParsedOsds> {
    const { views, ceph } = this.#ports
    const held = this.#hosts.get(key)
    const parse = (hosts?: ReadonlyMap<number, string>) => parseOsds(views, namespace, hosts)
    const first = parse(held?.hosts)
    const isComplete = first.views.every(({ nodeName }) => nodeName.known)
    if (isComplete || !map.known || commands === undefined || held?.map === map.value) return first
    const hosts = await ceph.observeOsdHosts(commands, signal)
    if (!hosts.known) return first
    this.#hosts.set(key, { map: map.value, hosts: hosts.value })
    return parse(hosts.value)
  }
}

interface ParsedOsds {
  readonly views: readonly OsdView[]
  readonly problems: readonly ObjectProblem[]
}

function parseOsds(
  { osdDeployments, osdPods, nodes }: CephDrainViews,
  namespace: string,
  hosts: ReadonlyMap<number, string> | undefined,
): ParsedOsds {
  const views: OsdView[] = []
  const problems: ObjectProblem[] = []
  for (const deployment of osdDeployments.byIndex('namespace', namespace)) {
    const [index = ''] = indexOfOsd(deployment)
    const cephHostname = hosts?.get(Number(index.split('/')[1]))
    const parsed = parseOsd(deployment, osdPods.byIndex('osd', index), { nodeOf: nodeOfHostname(nodes), cephHostname })
    if ('osd' in parsed) views.push(parsed.osd)
    else problems.push(parsed.problem)
  }
  return { views, problems }
}

/** `nodes` are indexed by `hostname`. */
function nodeOfHostname(nodes: WatchView<NodeView>): NodeOfHostname {
  return (hostname) => soleNode(hostname, nodes.byIndex('hostname', hostname))
}

/** Mons and mgrs of one cluster, in the order of their names. */
export function observeDaemons(
  { daemonDeployments, daemonPods, nodes }: Pick<CephDrainViews, 'daemonDeployments' | 'daemonPods' | 'nodes'>,
  namespace: string,
): DaemonView[] {
  const pods = daemonPods.byIndex('namespace', namespace)
  const whereabouts = { nodeOf: nodeOfHostname(nodes) }
  return daemonDeployments
    .byIndex('namespace', namespace)
    .flatMap((deployment) => parseDaemon(deployment, pods, whereabouts) ?? [])
    .sort((a, b) => (`${a.type}.${a.id}` < `${b.type}.${b.id}` ? -1 : 1))
}

function isHealthyBy(pattern: Observed<(state: string) => boolean>): (state: string) => boolean {
  return pattern.known ? pattern.value : () => false
}

/** The buckets with OSDs that are away, or that a drain would take. */
function domainsToLeave(
  view: CephView,
  gone: readonly OsdView[],
  osds: readonly OsdView[],
  nodes: readonly NodeView[],
): string[] {
  const open = new Set(nodes.filter(({ isClosed }) => !isClosed).map(({ name }) => name))
  const onClosed = osds.filter(({ nodeName }) => nodeName.known && !open.has(nodeName.value))
  const leaving = new Set([...gone, ...onClosed].map(({ id }) => id))
  return view.domains.filter((domain) => domain.osds.some((id) => leaving.has(id))).map(({ domain }) => domain)
}
