import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { ConfigMap, Event, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { ObjectKey } from '@cofferdam/kubernetes/api/resource-type.ts'
import { configMaps, deployments, events, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { updateRecordName } from '@cofferdam/product/capabilities/osd-update/domain/update-record.ts'
import type { CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'
import { installOperator } from '@cofferdam/product/cli/demo/install-operator.ts'
import { type CephTrust, trustsAlone } from '@cofferdam/product/shared/ceph-trust/named-clusters.ts'
import { disruptionLedgers, ledgerName } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { buildCephDescription } from '@cofferdam/simulator/cluster-file/build-ceph-description.ts'
import { cephImage } from '@cofferdam/simulator/cluster-file/build-ceph-resources.ts'
import { parseClusterFile } from '@cofferdam/simulator/cluster-file/cluster-file.ts'
import type { CephClusterDescription } from '@cofferdam/simulator/cluster-file/describe-ceph.ts'
import { seedCluster } from '@cofferdam/simulator/cluster-file/seed-cluster.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'
import { rookOperatorDeployment, startRookBudgets } from '@cofferdam/simulator/world/ceph/rook/budget-controller.ts'
import { overrideName, type RookOsdLoop, startRookOsdLoop } from '@cofferdam/simulator/world/ceph/rook/osd-loop.ts'
import { type OsdPrepare, startOsdPrepare } from '@cofferdam/simulator/world/ceph/rook/osd-prepare.ts'
import { createSimulatedCeph, type SimulatedCeph } from '@cofferdam/simulator/world/ceph/simulated-ceph.ts'
import { startWorld, type World } from '@cofferdam/simulator/world/start-world.ts'
import { changedApi, openScenario, type Scenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { type CutLine, openLine } from './cut-line.ts'
import { type Drain, startDrain } from './drainer.ts'
import type { StagedOperator } from './lock-fixture.ts'
import { badImageRuntime } from './osd-update-bad-image.ts'
import {
  cluster,
  clusterFile,
  disksOf,
  namespace,
  type UpdateClusterOptions,
  withNodeSuffix,
} from './osd-update-cluster.ts'
import { isOsd, osdOf, type UpdateOracle, versionOf, watchOsdUpdates } from './osd-update-oracle.ts'
import { recordCephTruth, recordOsdUpdates } from './osd-update-recorder.ts'
import { settled } from './settled.ts'
import { type OperateOptions, openOperators } from './staged-operators.ts'
import { openTrace, type Trace } from './trace.ts'

export { namespace }

export interface UpdateFixtureOptions extends UpdateClusterOptions {
  /** Of the CephCluster. */
  readonly annotations?: Readonly<Record<string, string>>
  /** What the operator's administrator says; that Cofferdam alone has the cluster, unless told. */
  readonly trust?: CephTrust
  /** With it new disks become OSDs. */
  readonly rookImage?: string
  /** Rook's own operator is there. */
  readonly isBesideRook?: boolean
  /** Beside Rook: its operator also updates mons, mgrs and OSDs. */
  readonly rookUpdates?: boolean | 'osds-only'
  /** Beside Rook: who keeps the budgets of OSDs. Unless told nobody does, and ceph-drain only looks. */
  readonly budgetsOf?: 'rook' | 'cofferdam'
  /** What node names end in while their hostname labels do not, as on EKS: `.ec2.internal`. */
  readonly nodeSuffix?: string
  /** How long the operator may not know yet of what befell the cluster. Default 3. */
  readonly patienceSeconds?: number
  readonly seed?: number
}

export interface UpdateFixture extends Pick<Scenario, 'server' | 'api' | 'clock' | 'failures'> {
  readonly world: World
  readonly views: Views
  readonly trace: Trace
  readonly oracle: UpdateOracle
  readonly ceph: SimulatedCeph
  readonly prepare: OsdPrepare
  /** Rook's own operator, where it updates OSDs. */
  readonly rookLoop: RookOsdLoop | undefined
  /** The line from the operator to Ceph. */
  readonly cephLine: CutLine
  /** What Ceph answers the operator passes through this; the oracle sees the truth all the same. */
  distort(answers: ((commands: CephCommands) => CephCommands) | undefined): void
  seconds(count: number): Promise<void>
  /** Lets time pass until it holds; fails the scenario when it does not in time. */
  until(what: string, holds: () => boolean | Promise<boolean>, withinSeconds?: number): Promise<void>
  operate(options?: OperateOptions): StagedOperator
  /** The process of the operator that came last, also in place of another. */
  newestOperator(): StagedOperator | undefined
  want(version: string): Promise<void>
  patchCluster(body: Parameters<KubeApi['patch']>[2]['body']): Promise<void>
  deleteCluster(): Promise<void>
  /** Pods of this version crash as soon as they start. */
  spoil(version: string): void
  /** The API server takes no Deployment of this OSD any more. */
  refuse(osd: number): void
  /** `v19.2.3 v19.2.4`: what the OSDs are to run, each once. */
  versions(): string
  /** All run this, have no update before them, and nothing is on its way. */
  isUpdated(version: string): boolean
  osdIds(): number[]
  /** `0: v19.2.3`. */
  versionsByOsd(): string[]
  killPod(osd: number): Promise<void>
  cordon(node: string, isCordoned?: boolean): Promise<void>
  drain(node: string): Drain
  request(name: string, nodeName: string): Promise<void>
  phaseOf(name: string): string
  /** Holders of the storage, as the ledger says. */
  holders(): string[]
  record(): ConfigMap | undefined
  /** `Warning OsdUpdateFrozen`, of the operator's own events about the CephCluster, in order. */
  told(): Promise<string[]>
  /** Disks are put into a node, as with kubectl. Whoever prepares the node finds them. */
  putDisks(node: string, disks: string): Promise<void>
  /** A disk is put into a node and prepared elsewhere: Ceph knows the OSD, and its Deployment comes with this version. */
  addOsd(node: string, version: string): Promise<number>
  close(): Promise<void>
}

const stepMs = 500

/** A Ceph cluster, all up and clean, before any operator has come. */
export async function openUpdateFixture(options: UpdateFixtureOptions = {}): Promise<UpdateFixture> {
  const { seed = 1, patienceSeconds = 3 } = options
  // Nobody updates mons here unless the scenario does.
  const annotations = { 'cofferdam.io/update-mons-first': 'false', ...options.annotations }
  const description = parseClusterFile(clusterFile(options), 'the scenario')
  const described = description.ceph as CephClusterDescription
  const scenario = openScenario(seed)
  const { server, api, clock, random, failures } = scenario
  const spoilt = new Set<string>()
  const world = startWorld({
    api,
    clock,
    random,
    onFailure: (failure) => failures.push(failure),
    kubelet: {
      readySeconds: description.pace.readyAfterSeconds,
      terminationSeconds: description.pace.terminationSeconds,
      runtime: badImageRuntime(clock, (image) => spoilt.has(image)),
    },
    keepEvents: 'none',
  })
  const { views } = world
  const { isOn } = world.kubelet
  const ceph = createSimulatedCeph({ api, clock, random, views, isOn }, buildCephDescription(described))
  const shared = {
    api,
    clock,
    random,
    views,
    onFailure: (failure: (typeof failures)[number]) => failures.push(failure),
  }
  const prepare = startOsdPrepare({ ...shared, isOn, namespace, ceph, devices: disksOf(described) })
  await seedCluster(options.nodeSuffix === undefined ? api : withNodeSuffix(api, options.nodeSuffix), description)
  await api.patch(cephClusters, cluster, { type: 'merge', body: { metadata: { annotations } } })
  if (options.isBesideRook === true) await api.create(deployments, rookOperatorDeployment(namespace))
  const rookLoop =
    options.rookUpdates === undefined || options.rookUpdates === false
      ? undefined
      : startRookOsdLoop({ ...shared, cluster, ceph, updatesMons: options.rookUpdates === true })
  if (rookLoop !== undefined) await api.create(configMaps, rookOverrides())
  if (options.budgetsOf === 'cofferdam') await api.patch(cephClusters, cluster, { type: 'merge', body: handedOver })
  const rook =
    options.budgetsOf === 'rook'
      ? startRookBudgets(shared, { cluster, commands: ceph.commands, failureDomainType: 'host' })
      : undefined
  const operatorApi = await installOperator(server, { ceph: [namespace] })
  await scenario.seconds(60)

  const trace = openTrace(clock)
  const oracle = watchOsdUpdates({
    views,
    clock,
    ceph: ceph.controls,
    ...cluster,
    patienceMs: patienceSeconds * 1_000,
    rookUpdates: rookLoop !== undefined,
  })
  const stopRecording = recordOsdUpdates(views, namespace, trace)
  const lookAtCeph = recordCephTruth(ceph.controls, trace)
  const cephLine = openLine()
  const refused = new Set<string>()
  let distorted: ((commands: CephCommands) => CephCommands) | undefined
  const commands: CephCommands = {
    run: (command, limits) => (distorted?.(ceph.commands) ?? ceph.commands).run(command, limits),
  }
  const lined = cephLine.commands(commands)
  const operators = openOperators({
    server,
    settledAfterMs: 20_000,
    diesAtEvents: false,
    api: watchedApi(operatorApi),
    clock,
    random,
    tell: trace.tell,
    ceph: () => lined,
    trust: options.trust ?? { ...trustsAlone([cluster], options.rookImage), ...(options.isBesideRook && { own: [] }) },
  })

  /** Admission stands behind the API server; evictions count as starts where Rook has the Deployments. */
  function watchedApi(inner: KubeApi): KubeApi {
    return changedApi(inner, {
      update(type, object, given) {
        if (type.plural === deployments.plural && refused.has(object.metadata.name)) {
          return Promise.reject(new ApiError('Forbidden', 'admission webhook "policy.example" denied the request: no'))
        }
        return inner.update(type, object, given)
      },
      createSubresource(type, key, ...given) {
        return restarting(key, inner.createSubresource(type, key, ...given))
      },
      delete(type, key, ...given) {
        const deletion = inner.delete(type, key, ...given)
        return type.plural === pods.plural ? restarting(key, deletion) : deletion
      },
    })
  }

  /** Where Rook updates OSDs an eviction is a start only for whoever asked for one; drains evict too. */
  function isRestartAsked(): boolean {
    if (options.isBesideRook !== true || rookLoop === undefined) return options.isBesideRook === true
    const { annotations: notes } = views.of(cephClusters).get(`${namespace}/${cluster.name}`)?.metadata ?? {}
    return notes?.['cofferdam.io/restart-osds'] !== undefined
  }

  /** What is refused is no start. */
  async function restarting<T>(key: ObjectKey, removal: Promise<T>): Promise<T> {
    const pod = views.of(pods).get(`${key.namespace}/${key.name}`)
    const answer = await removal
    if (isRestartAsked() && pod !== undefined && isOsd(pod, namespace)) oracle.evicted(osdOf(pod))
    return answer
  }

  async function seconds(count: number): Promise<void> {
    const end = clock.now() + count * 1_000
    while (clock.now() < end) {
      await clock.advance(Math.min(stepMs, end - clock.now()))
      operators.look()
      oracle.look()
      lookAtCeph()
    }
  }

  const osdDeployments = () =>
    [...views.of(deployments).values()]
      .filter((one) => isOsd(one, namespace))
      .sort((left, right) => osdOf(left) - osdOf(right))
  const versions = () => [...new Set(osdDeployments().map(versionOf))].sort().join(' ')
  const ledger = () => views.of(disruptionLedgers).get(ledgerName)?.status
  const imageOf = (version: string) => cephImage.replace(/[^:]+$/, version)
  const record = () => views.of(configMaps).get(`${namespace}/${updateRecordName(cluster)}`)
  const podOf = (osd: number): Pod | undefined =>
    [...views.of(pods).values()].find((pod) => isOsd(pod, namespace) && osdOf(pod) === osd)

  // Views are opened before anybody asks what they hold.
  record()
  await seconds(2)
  return {
    server,
    api,
    clock,
    failures,
    world,
    views,
    trace,
    oracle,
    ceph,
    prepare,
    rookLoop,
    cephLine,
    distort(answers) {
      distorted = answers
    },
    seconds,
    async until(what, holds, withinSeconds = 600) {
      const end = clock.now() + withinSeconds * 1_000
      while (!(await holds())) {
        if (clock.now() >= end) throw new Error(`not within ${withinSeconds} s: ${what}\n${trace.text()}`)
        await seconds(1)
      }
    },
    operate: operators.operate,
    newestOperator: operators.newest,
    async want(version) {
      const body = { spec: { cephVersion: { image: imageOf(version) } } }
      await api.patch(cephClusters, cluster, { type: 'merge', body })
    },
    async patchCluster(body) {
      await api.patch(cephClusters, cluster, { type: 'merge', body } as Parameters<KubeApi['patch']>[2])
    },
    async deleteCluster() {
      await api.delete(cephClusters, cluster)
    },
    spoil: (version) => void spoilt.add(imageOf(version)),
    refuse: (osd) => void refused.add(`rook-ceph-osd-${osd}`),
    versions,
    isUpdated: (version) => versions() === version && oracle.onTheWay().length === 0,
    osdIds: () => osdDeployments().map(osdOf),
    versionsByOsd: () => osdDeployments().map((one) => `${osdOf(one)}: ${versionOf(one)}`),
    async killPod(osd) {
      const pod = podOf(osd)
      if (pod !== undefined) await api.delete(pods, { namespace, name: pod.metadata.name }).catch(() => undefined)
    },
    async cordon(name, isCordoned = true) {
      const body = { spec: { unschedulable: isCordoned ? true : null } }
      await api.patch(nodes, { name }, { type: 'merge', body })
    },
    drain: (node) => startDrain({ api, clock, tell: trace.tell }, node),
    async request(name, nodeName) {
      await api.create(nodeDisruptions, {
        apiVersion: 'cofferdam.io/v1alpha1',
        kind: 'NodeDisruption',
        metadata: { name },
        spec: { nodeName, intent: 'Reboot', honourSkipDrain: true },
      })
    },
    phaseOf: (name) => views.of(nodeDisruptions).get(name)?.status?.phase ?? 'Pending',
    holders: () =>
      (ledger()?.entries ?? [])
        .filter(({ key }) => key.startsWith('storage/'))
        .map(({ holder, requestId, scope }) => `${holder || requestId}: ${scope || 'all'}`),
    record,
    async told() {
      const { items } = await api.list(events, { namespace })
      return items
        .filter(
          ({ source, involvedObject }) => source?.component === 'cofferdam' && involvedObject.kind === 'CephCluster',
        )
        .sort((a: Event, b: Event) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
        .map(({ type, reason }) => `${type} ${reason}`)
    },
    async putDisks(name, disks) {
      const body = { metadata: { annotations: { 'cofferdam.io/disks': disks } } }
      await api.patch(nodes, { name }, { type: 'merge', body })
    },
    async addOsd(node, version) {
      const [pattern] = osdDeployments().filter(({ spec }) =>
        Object.values(spec.template.spec.nodeSelector ?? {}).includes(node),
      )
      if (pattern === undefined) throw new RangeError(`no OSD is on ${node} to make another one after`)
      const id = ceph.controls.addOsd({ node: pattern.metadata.labels?.['topology-location-host'] ?? node })
      const text = JSON.stringify({
        apiVersion: pattern.apiVersion,
        kind: pattern.kind,
        metadata: { name: `rook-ceph-osd-${id}`, namespace, labels: pattern.metadata.labels },
        spec: pattern.spec,
      })
      const old = osdOf(pattern)
      const made = JSON.parse(
        text
          .replaceAll(`"osd":"${old}"`, `"osd":"${id}"`)
          .replaceAll(`"ceph-osd-id":"${old}"`, `"ceph-osd-id":"${id}"`)
          .replaceAll(`"ceph_daemon_id":"${old}"`, `"ceph_daemon_id":"${id}"`)
          .replaceAll(`"app.kubernetes.io/instance":"${old}"`, `"app.kubernetes.io/instance":"${id}"`)
          .replaceAll(imageOf(versionOf(pattern)), imageOf(version)),
      ) as typeof pattern
      await api.create(deployments, made)
      return id
    },
    async close() {
      const ended = operators.stop()
      await settled(clock, ended)
      stopRecording()
      oracle.stop()
      prepare.stop()
      rook?.stop()
      rookLoop?.stop()
      ceph.stop()
      world.stop()
      scenario.stop()
    },
  }
}

const handedOver = {
  metadata: { annotations: { 'cofferdam.io/budgets': 'manage' } },
  spec: { disruptionManagement: { managePodBudgets: false } },
}

function rookOverrides(): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: overrideName }, data: { config: '' } }
}
