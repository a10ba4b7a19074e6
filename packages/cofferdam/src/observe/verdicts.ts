import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { readStorage } from '../capabilities/ceph-drain/observe/read-storage.ts'
import { osdOf } from '../capabilities/ceph-drain/view/storage-budget.ts'
import type { DisruptionSnapshot } from '../capabilities/drain-lock/domain/snapshot.ts'
import { skipDrainAnnotation } from '../capabilities/drain-lock/observe/objects.ts'
import { readFencing } from '../capabilities/fencing/observe/read-fencing.ts'
import { readLonghorn } from '../capabilities/longhorn-drain/observe/read-longhorn.ts'
import { readUpdates } from '../capabilities/osd-update/observe/read-updates.ts'
import type { Shown } from '../capabilities/shown.ts'
import { type BudgetVerdict, describeVerdict } from '../explain/budget-verdict.ts'
import { type CephVerdict, cephVerdict } from '../explain/ceph-verdict.ts'
import { explainBudget } from '../explain/explain-budget.ts'
import { explainCephCluster } from '../explain/explain-ceph-cluster.ts'
import { explainNode } from '../explain/explain-node.ts'
import { type MachineVerdict, machineVerdicts } from '../explain/machine-verdict.ts'
import { type NodeVerdict, nodeVerdict } from '../explain/node-verdict.ts'
import type { GuardSnapshot, LonghornPlaces } from '../explain/snapshot.ts'
import { groupedBy } from '../shared/grouped-by.ts'
import { plainPaint } from '../shared/paint.ts'
import { readLonghornPlaces } from './longhorn-places.ts'
import { observeHolds } from './observe-holds.ts'
import { readShown, type ShownPorts } from './read-shown.ts'
import { openReader, type Question, type Reader } from './reader.ts'

export interface Verdicts {
  /** What every budget says to the next eviction, by `namespace/name`. */
  readonly budgets: ReadonlyMap<string, BudgetVerdict>
  /** Whether each node may be drained, by its name. */
  readonly nodes: ReadonlyMap<string, NodeVerdict>
  /** What is known of each Ceph cluster, by `namespace/name`. */
  readonly ceph: ReadonlyMap<string, CephVerdict>
  /** What becomes of each machine, by `api/namespace/name`. */
  readonly machines: ReadonlyMap<string, MachineVerdict>
  /** What each capability has to say of the whole cluster, by its field. */
  readonly panels: ReadonlyMap<string, Panel>
}

export interface Panel {
  readonly title: string
  /** The first line of each group says it, the others are its details. */
  readonly groups: readonly (readonly string[])[]
}

/** What a drain for a reboot would see of nodes whose pods ask to stay, by the name of the node. */
export type Rehearse = (names: readonly string[], read: Reader) => Promise<ReadonlyMap<string, DisruptionSnapshot>>

export interface VerdictQuestion extends Question {
  readonly rehearse: Rehearse
}

/** Everything that is judged in a cluster, read and judged as `explain` and `status` do. */
export async function observeVerdicts(
  question: VerdictQuestion,
  list: readonly Shown<ShownPorts>[],
): Promise<Verdicts> {
  const { api, signal } = question
  const read = await openReader(question)
  const [{ items: budgets }, { items: podList }, { items: nodeList }, longhorn] = await Promise.all([
    api.list(podDisruptionBudgets, { signal }),
    api.list(pods, { signal }),
    api.list(nodes, { signal }),
    readLonghorn(read),
  ])
  const [storage, holds, longhornPlaces] = await Promise.all([
    readStorage(read, budgets),
    observeHolds(read, budgets, read.notSeen),
    readLonghornPlaces(read, budgets),
  ])
  const ports = { ...read, storage, ledger: holds.ledger }
  const shown = await readShown(ports, list)
  const fencing = await readFencing(read, ports)
  const podsByNamespace = groupedBy(podList, ({ metadata }) => metadata.namespace ?? '')
  const unread = [...read.notSeen]
  const guards = { budgets, pods: podList, storage, holds, unread, ...(longhorn && { longhorn }) }
  const style = { now: read.now, paint: plainPaint }
  return {
    budgets: new Map(
      budgets.map((budget) => {
        const around = podsByNamespace.get(budget.metadata.namespace ?? '') ?? []
        const seen = { budget, pods: around, storage, holds, unread, ...(longhorn && { longhorn }) }
        return [keyText(keyOf(budget)), describeVerdict(explainBudget(seen))]
      }),
    ),
    nodes: await judgeNodes({ nodeList, podList, guards, longhornPlaces, rehearse: question.rehearse }, read),
    ceph: await judgeCeph({ pods: podList, budgets, storage, holds, unread }, read),
    machines: fencing === undefined ? new Map() : machineVerdicts(fencing),
    panels: new Map(
      list.flatMap(({ field, title, lines }): [string, Panel][] => {
        const groups = shown[field] === undefined ? [] : lines(shown[field], style)
        return groups.length === 0 ? [] : [[field, { title, groups }]]
      }),
    ),
  }
}

/** So many are judged before others get the processor. */
const atATime = 20

async function judgeNodes(
  {
    nodeList,
    podList,
    guards,
    longhornPlaces,
    rehearse,
  }: {
    readonly nodeList: readonly Node[]
    readonly podList: readonly Pod[]
    readonly guards: GuardSnapshot
    readonly longhornPlaces: LonghornPlaces
    readonly rehearse: Rehearse
  },
  read: Reader,
): Promise<ReadonlyMap<string, NodeVerdict>> {
  const podsByNode = groupedBy(podList, ({ spec }) => spec.nodeName ?? '')
  const podsByNamespace = groupedBy(podList, ({ metadata }) => metadata.namespace ?? '')
  const budgetsByNamespace = groupedBy(guards.budgets, ({ metadata }) => metadata.namespace ?? '')
  const verdicts = new Map<string, NodeVerdict>()
  const asksToStay = ({ metadata }: Pod) => metadata.annotations?.[skipDrainAnnotation] === 'true'
  const names = nodeList.map(({ metadata }) => metadata.name)
  const stayed = names.filter((name) => podsByNode.get(name)?.some(asksToStay) === true)
  const rehearsals = stayed.length === 0 ? new Map() : await rehearse(stayed, read)
  for (const [at, node] of nodeList.entries()) {
    if (at % atATime === atATime - 1) await new Promise((resolve) => setImmediate(resolve))
    const { name } = node.metadata
    const podsOnNode = podsByNode.get(name) ?? []
    const rehearsal = rehearsals.get(name)
    const namespaces = [...new Set(podsOnNode.map(({ metadata }) => metadata.namespace ?? ''))]
    const around = {
      pods: namespaces.flatMap((namespace) => podsByNamespace.get(namespace) ?? []),
      budgets: namespaces.flatMap((namespace) => budgetsByNamespace.get(namespace) ?? []),
    }
    verdicts.set(
      name,
      nodeVerdict(
        explainNode({ node, ...guards, ...around, longhornPlaces, ...(rehearsal && { rehearsal }), now: read.now }),
      ),
    )
  }
  return verdicts
}

async function judgeCeph(guards: GuardSnapshot, read: Reader): Promise<ReadonlyMap<string, CephVerdict>> {
  const updates = await readUpdates(read)
  if (updates.length === 0) return new Map()
  const clusters = read.informers.openOptional('cephclusters/health', {
    type: cephClusters,
    project: ({ metadata, status }) => ({ metadata, ...(status === undefined ? {} : { status }) }),
  })
  await read.informers.settled()
  return new Map(
    updates.map((seen) => {
      const { namespace = '', name } = seen.cluster.metadata
      const pods = guards.pods.filter(({ metadata }) => metadata.namespace === namespace)
      const budgets = guards.budgets.filter(({ metadata }) => metadata.namespace === namespace)
      const osdPods = pods.filter((pod) => osdOf(pod) !== undefined)
      return [
        `${namespace}/${name}`,
        cephVerdict(explainCephCluster({ ...guards, pods, budgets }, { seen, osdPods }), {
          cluster: clusters.get({ namespace, name }),
          view: guards.storage.find((each) => each.namespace === namespace && each.name === name),
          mons: pods.filter(({ metadata }) => metadata.labels?.['app'] === 'rook-ceph-mon'),
        }),
      ]
    }),
  )
}
