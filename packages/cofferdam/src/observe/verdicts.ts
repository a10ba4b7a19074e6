import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { readStorage } from '../capabilities/ceph-drain/observe/read-storage.ts'
import { readFencing } from '../capabilities/fencing/observe/read-fencing.ts'
import { readLonghorn } from '../capabilities/longhorn-drain/observe/read-longhorn.ts'
import type { Shown } from '../capabilities/shown.ts'
import { type BudgetVerdict, describeVerdict } from '../explain/budget-verdict.ts'
import { explainBudget } from '../explain/explain-budget.ts'
import type { NodeState } from '../explain/explanation.ts'
import { type MachineVerdict, machineVerdicts } from '../explain/machine-verdict.ts'
import { nodeStateOf } from '../explain/node-state.ts'
import { isClosedToPods } from '../shared/closed-node.ts'
import { groupedBy } from '../shared/grouped-by.ts'
import { plainPaint } from '../shared/paint.ts'
import { observeHolds } from './observe-holds.ts'
import { readShown, type ShownPorts } from './read-shown.ts'
import { openReader, type Question } from './reader.ts'

export interface Verdicts {
  /** What every budget says to the next eviction, by `namespace/name`. */
  readonly budgets: ReadonlyMap<string, BudgetVerdict>
  /** How far a drain of each cordoned node is, by its name. */
  readonly nodes: ReadonlyMap<string, Pick<NodeState, 'drain'>>
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

/** Everything that is judged in a cluster, read and judged as `explain` and `status` do. */
export async function observeVerdicts(question: Question, list: readonly Shown<ShownPorts>[]): Promise<Verdicts> {
  const { api, signal } = question
  const read = await openReader(question)
  const [{ items: budgets }, { items: podList }, { items: nodeList }, longhorn] = await Promise.all([
    api.list(podDisruptionBudgets, { signal }),
    api.list(pods, { signal }),
    api.list(nodes, { signal }),
    readLonghorn(read),
  ])
  const [storage, holds] = await Promise.all([readStorage(read, budgets), observeHolds(read, budgets, read.notSeen)])
  const ports = { ...read, storage, ledger: holds.ledger }
  const shown = await readShown(ports, list)
  const fencing = await readFencing(read, ports)
  const podsByNamespace = groupedBy(podList, ({ metadata }) => metadata.namespace ?? '')
  const podsByNode = groupedBy(podList, ({ spec }) => spec.nodeName ?? '')
  const style = { now: read.now, paint: plainPaint }
  return {
    budgets: new Map(
      budgets.map((budget) => {
        const around = podsByNamespace.get(budget.metadata.namespace ?? '') ?? []
        const seen = { budget, pods: around, storage, holds, ...(longhorn && { longhorn }) }
        return [keyText(keyOf(budget)), describeVerdict(explainBudget(seen))]
      }),
    ),
    nodes: new Map(
      nodeList.filter(isClosedToPods).map((node) => {
        const { name } = node.metadata
        const around = { podsOnNode: podsByNode.get(name) ?? [], leftByRequest: holds.leftByRequest ?? [] }
        return [name, { drain: nodeStateOf({ node, ...around, now: read.now }).drain }]
      }),
    ),
    machines: fencing === undefined ? new Map() : machineVerdicts(fencing),
    panels: new Map(
      list.flatMap(({ field, title, lines }): [string, Panel][] => {
        const groups = shown[field] === undefined ? [] : lines(shown[field], style)
        return groups.length === 0 ? [] : [[field, { title, groups }]]
      }),
    ),
  }
}
