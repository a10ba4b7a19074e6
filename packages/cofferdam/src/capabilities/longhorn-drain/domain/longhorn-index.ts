import { changedItems } from '../../../shared/changed-items.ts'
import { Grouped } from '../../../shared/grouped.ts'
import type { UnreadableObject } from '../../../shared/parsed.ts'
import type {
  InstanceManagerView,
  LonghornDrainSettings,
  LonghornNodeView,
  LonghornSnapshot,
  ReplicaView,
  VolumeView,
} from './snapshot.ts'

/** A snapshot from which every question about one node or one volume is answered without reading the others. */
export interface LonghornIndex {
  readonly namespace: string
  readonly settings: LonghornDrainSettings
  /** Instance managers that a budget covers, Longhorn's or ours. */
  readonly budgets: ReadonlySet<string>
  /** Of these, those with one of ours. */
  readonly holds: ReadonlySet<string>
  readonly longhornBudgets: ReadonlySet<string>
  readonly otherBudgets: ReadonlySet<string>
  readonly unreadable: readonly UnreadableObject[]
  readonly unreadableObjects: ReadonlySet<string>
  readonly nodes: Pick<ReadonlyMap<string, LonghornNodeView>, 'get' | 'has' | 'values'>
  readonly volumes: ReadonlyMap<string, VolumeView>
  readonly instanceManagers: ReadonlyMap<string, InstanceManagerView>
  /** All of them, inactive ones too. */
  replicasOn(node: string): readonly ReplicaView[]
  /** All of them, inactive ones too. None for the volume '': it is not one volume but unknown. */
  replicasOf(volume: string): readonly ReplicaView[]
  /** The same, and under '' those that name no volume. */
  replicasNaming(volume: string): readonly ReplicaView[]
  /** The active ones: an inactive one is a double over the data of another, and no copy. */
  copiesOf(volume: string): readonly ReplicaView[]
  instanceManagersOn(node: string): readonly InstanceManagerView[]
}

/** What must be judged again. */
export interface Touched {
  readonly isEverything: boolean
  /** With a change of their own, or of what is on them. */
  readonly nodes: ReadonlySet<string>
  /** With a change of their own, of a replica, or of what their replicas rest on. */
  readonly volumes: ReadonlySet<string>
  /** Nodes that have replicas or engines of these volumes. */
  readonly neighbours: ReadonlySet<string>
}

const everything: Touched = { isEverything: true, nodes: new Set(), volumes: new Set(), neighbours: new Set() }

const nothing: LonghornSnapshot = {
  namespace: '',
  nowMs: 0,
  settings: {
    mode: 'observe',
    manager: { known: false, why: '' },
    reverted: undefined,
    policy: { known: false, why: '' },
    inForce: { known: false, why: '' },
    atRest: { known: false, why: '' },
    trigger: 'cordon',
    isAutoscaled: false,
    surplus: 'keep',
    problems: [],
  },
  nodes: [],
  volumes: [],
  replicas: [],
  instanceManagers: [],
  budgets: new Set(),
  holds: new Set(),
  longhornBudgets: new Set(),
  unreadable: [],
}

const none: ReadonlySet<string> = new Set()

export class IndexedSnapshot implements LonghornIndex {
  readonly nodes = new Map<string, LonghornNodeView>()
  readonly volumes = new Map<string, VolumeView>()
  readonly instanceManagers = new Map<string, InstanceManagerView>()
  unreadableObjects: ReadonlySet<string> = new Set()
  readonly #byNode = new Grouped<ReplicaView>(({ node }) => node)
  readonly #byVolume = new Grouped<ReplicaView>(({ volume }) => volume)
  readonly #copies = new Grouped<ReplicaView>(({ volume, isActive }) => (isActive ? volume : []))
  readonly #byManager = new Grouped<ReplicaView>(({ instanceManager }) => instanceManager ?? '')
  readonly #managersByNode = new Grouped<InstanceManagerView>(({ node }) => node)
  readonly #managersByEngine = new Grouped<InstanceManagerView>(({ engines }) => [...new Set(engines)])
  #seen = nothing
  #isFirst = true

  get namespace(): string {
    return this.#seen.namespace
  }

  get settings(): LonghornDrainSettings {
    return this.#seen.settings
  }

  get budgets(): ReadonlySet<string> {
    return this.#seen.budgets
  }

  get holds(): ReadonlySet<string> {
    return this.#seen.holds
  }

  get longhornBudgets(): ReadonlySet<string> {
    return this.#seen.longhornBudgets
  }

  get otherBudgets(): ReadonlySet<string> {
    return this.#seen.otherBudgets ?? none
  }

  get unreadable(): readonly UnreadableObject[] {
    return this.#seen.unreadable
  }

  replicasOn(node: string): readonly ReplicaView[] {
    return this.#byNode.of(node)
  }

  replicasOf(volume: string): readonly ReplicaView[] {
    return volume === '' ? [] : this.#byVolume.of(volume)
  }

  replicasNaming(volume: string): readonly ReplicaView[] {
    return this.#byVolume.of(volume)
  }

  copiesOf(volume: string): readonly ReplicaView[] {
    return volume === '' ? [] : this.#copies.of(volume)
  }

  instanceManagersOn(node: string): readonly InstanceManagerView[] {
    return this.#managersByNode.of(node)
  }

  /** Takes over a newer snapshot. Lists whose elements are the same objects in nearly the same order cost least. */
  update(after: LonghornSnapshot): Touched {
    const before = this.#seen
    const replicas = changedItems(before.replicas, after.replicas)
    for (const replica of replicas.removed) this.#file(replica, 'remove')
    for (const replica of replicas.added) this.#file(replica, 'add')
    const managers = changedItems(before.instanceManagers, after.instanceManagers)
    for (const manager of managers.removed) this.#fileManager(manager, 'remove')
    for (const manager of managers.added) this.#fileManager(manager, 'add')
    const changedVolumes = changedItems(before.volumes, after.volumes)
    replaceAll(this.volumes, changedVolumes)
    const changedNodes = changedItems(before.nodes, after.nodes)
    replaceAll(this.nodes, changedNodes)
    const isReadingOther = this.#readUnreadable(after)
    const isMoved = before.namespace !== after.namespace
    const isEverything = this.#isFirst || isMoved || isReadingOther || !isSame(before.settings, after.settings)
    this.#seen = after
    this.#isFirst = false
    if (isEverything) return everything

    const [nodes, volumes, neighbours] = [new Set<string>(), new Set<string>(), new Set<string>()]
    const touchVolume = (volume: string): void => {
      if (volumes.has(volume)) return
      volumes.add(volume)
      for (const { node } of this.#byVolume.of(volume)) neighbours.add(node)
      for (const { node } of this.#managersByEngine.of(volume)) neighbours.add(node)
    }
    const touchNode = (node: string): void => {
      nodes.add(node)
      for (const { volume } of this.#byNode.of(node)) touchVolume(volume)
    }
    const touchManager = ({ name, node }: InstanceManagerView): void => {
      touchNode(node)
      for (const { volume } of this.#byManager.of(name)) touchVolume(volume)
    }
    for (const { node, volume } of both(replicas)) {
      nodes.add(node)
      touchVolume(volume)
    }
    for (const { name } of both(changedVolumes)) touchVolume(name)
    for (const { name } of both(changedNodes)) touchNode(name)
    for (const manager of both(managers)) touchManager(manager)
    const changedBudgets = [
      ...changedNames(before.budgets, after.budgets),
      ...changedNames(before.holds, after.holds),
      ...changedNames(before.longhornBudgets, after.longhornBudgets),
      ...changedNames(before.otherBudgets ?? none, after.otherBudgets ?? none),
    ]
    for (const name of changedBudgets) {
      const manager = this.instanceManagers.get(name)
      if (manager !== undefined) touchManager(manager)
    }
    return { isEverything, nodes, volumes, neighbours }
  }

  #file(replica: ReplicaView, verb: 'add' | 'remove'): void {
    this.#byNode[verb](replica)
    this.#byVolume[verb](replica)
    this.#copies[verb](replica)
    this.#byManager[verb](replica)
  }

  #fileManager(manager: InstanceManagerView, verb: 'add' | 'remove'): void {
    if (verb === 'add') this.instanceManagers.set(manager.name, manager)
    else this.instanceManagers.delete(manager.name)
    this.#managersByNode[verb](manager)
    this.#managersByEngine[verb](manager)
  }

  #readUnreadable(after: LonghornSnapshot): boolean {
    if (isSame(this.#seen.unreadable, after.unreadable)) return false
    this.unreadableObjects = new Set(after.unreadable.map(({ object }) => object))
    return true
  }
}

function both<T>({ removed, added }: { readonly removed: readonly T[]; readonly added: readonly T[] }): readonly T[] {
  return [...removed, ...added]
}

function replaceAll<T extends { readonly name: string }>(
  map: Map<string, T>,
  { removed, added }: { readonly removed: readonly T[]; readonly added: readonly T[] },
): void {
  for (const { name } of removed) map.delete(name)
  for (const item of added) map.set(item.name, item)
}

function changedNames(before: ReadonlySet<string>, after: ReadonlySet<string>): string[] {
  if (before === after) return []
  return [...[...before].filter((name) => !after.has(name)), ...[...after].filter((name) => !before.has(name))]
}

function isSame(left: unknown, right: unknown): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right)
}
