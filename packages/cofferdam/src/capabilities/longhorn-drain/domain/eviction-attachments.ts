import type {
  AttachmentTicketView,
  InstanceManagerView,
  LonghornNodeView,
  LonghornSnapshot,
  ReplicaView,
  VolumeView,
} from './snapshot.ts'

export interface EvictionTicketChange {
  readonly volume: string
  readonly id: string
  /** Where it should be attached; undefined: the ticket is taken back. */
  readonly node: string | undefined
}

export interface EvictionAttachments {
  readonly changes: readonly EvictionTicketChange[]
  /** Detached volumes with a replica that is to leave, and no node to which another copy could go. */
  readonly withoutPlace: readonly string[]
}

export const evictionTicketType = 'volume-eviction-controller'

export function evictionTicketId(volume: string): string {
  return `cofferdam-eviction-${volume}`
}

/**
 * A detached volume is attached while a replica of it is to leave, since only an engine copies; and to a node that is well.
 *
 * Guarantees: our ticket goes as soon as nothing is to leave any more or somebody else wants the volume, so it detaches
 * again; it never stays on a node that is leaving. A volume that somebody else wants attached is left alone, and so is
 * one for which there is no place: it would be attached for nothing.
 */
export function decideEvictionAttachments(snapshot: LonghornSnapshot): EvictionAttachments {
  const leaving = new Set<string>()
  for (const { isActive, isEvictionRequested, isBeingDeleted, volume } of snapshot.replicas) {
    if (isActive && isEvictionRequested && !isBeingDeleted) leaving.add(volume)
  }
  const concerned = snapshot.volumes.filter((volume) => leaving.has(volume.name) || ownTicket(volume) !== undefined)
  if (concerned.length === 0) return { changes: [], withoutPlace: [] }
  const surroundings = new Surroundings(snapshot, new Set(concerned.map(({ name }) => name)))
  const changes: EvictionTicketChange[] = []
  const withoutPlace: string[] = []
  for (const volume of [...concerned].sort(byName)) {
    const held = ownTicket(volume)
    const isNeeded = leaving.has(volume.name) && mayBeAttached(volume, held)
    const isPlaced = isNeeded && surroundings.hasPlaceFor(volume)
    if (isNeeded && !isPlaced) withoutPlace.push(volume.name)
    const node = isPlaced ? surroundings.attachTo(volume, held) : undefined
    if (node === held?.node) continue
    changes.push({ volume: volume.name, id: evictionTicketId(volume.name), node })
  }
  return { changes, withoutPlace }
}

/** All of our tickets go, where the moves they are for are not ours any more. */
export function decideTicketWithdrawal({ volumes }: LonghornSnapshot): readonly EvictionTicketChange[] {
  return volumes
    .filter((volume) => ownTicket(volume) !== undefined)
    .map(({ name }) => ({ volume: name, id: evictionTicketId(name), node: undefined }))
}

function ownTicket({ name, tickets }: VolumeView): AttachmentTicketView | undefined {
  return tickets?.find(({ id }) => id === evictionTicketId(name))
}

function mayBeAttached(volume: VolumeView, held: AttachmentTicketView | undefined): boolean {
  // Longhorn asks for the same a little later, but to the node that owns the volume, be it the one that leaves.
  const isForTheSame = ({ type }: AttachmentTicketView) => held !== undefined && type === evictionTicketType
  const isWantedByOthers = (volume.tickets ?? []).some((ticket) => ticket !== held && !isForTheSame(ticket))
  if (isWantedByOthers || volume.isStrictLocal || volume.robustness === 'faulted') return false
  return held !== undefined || volume.state === 'detached'
}

class Surroundings {
  readonly #snapshot: LonghornSnapshot
  readonly #copies = new Map<string, ReplicaView[]>()
  readonly #managers = new Map<string, InstanceManagerView[]>()
  /** Volumes that are attached to a node, with those that this decision adds. */
  readonly #load = new Map<string, number>()

  constructor(snapshot: LonghornSnapshot, volumes: ReadonlySet<string>) {
    this.#snapshot = snapshot
    for (const replica of snapshot.replicas) {
      if (replica.isActive && volumes.has(replica.volume)) push(this.#copies, replica.volume, replica)
    }
    for (const manager of snapshot.instanceManagers) {
      if (!manager.isRunning) continue
      push(this.#managers, manager.node, manager)
      this.#load.set(manager.node, (this.#load.get(manager.node) ?? 0) + manager.engines.length)
    }
  }

  /**
   * Whether a copy could go somewhere, as far as nodes and disks show; space and tags are Longhorn's to judge. Where as many
   * copies as are wanted stay already, the new one has its place.
   */
  hasPlaceFor(volume: VolumeView): boolean {
    const live = this.#copiesOf(volume).filter(({ failedAt, isBeingDeleted }) => failedAt === '' && !isBeingDeleted)
    const staying = live.filter(({ isEvictionRequested }) => !isEvictionRequested)
    if (staying.length >= volume.numberOfReplicas) return true
    return this.#snapshot.nodes.some((node) => {
      if (!takesReplicas(node) || !this.#managers.has(node.name)) return false
      if (volume.sharesNodes !== true && staying.some((copy) => copy.node === node.name)) return false
      const isLeft = (uuid: string) =>
        live.some((copy) => copy.isEvictionRequested && copy.node === node.name && copy.diskUuid === uuid)
      return node.disks.some(({ uuid, isEvictionAsked }) => !isEvictionAsked && !isLeft(uuid))
    })
  }

  /** Where it is already, if that node is well; else by preference a node that keeps a copy, and the one with least to do. */
  attachTo(volume: VolumeView, held: AttachmentTicketView | undefined): string | undefined {
    const copies = this.#copiesOf(volume)
    const well = this.#snapshot.nodes.filter((node) => this.#isWell(node, this.#dataEngineOf(copies)))
    if (held !== undefined && well.some(({ name }) => name === held.node)) return held.node
    const keepers = new Set(copies.filter(isKept).map(({ node }) => node))
    const kept = well.filter(({ name }) => keepers.has(name))
    const [chosen] = (kept.length > 0 ? kept : well).sort((left, right) => {
      const difference = (this.#load.get(left.name) ?? 0) - (this.#load.get(right.name) ?? 0)
      return difference === 0 ? byName(left, right) : difference
    })
    if (chosen === undefined) return undefined
    this.#load.set(chosen.name, (this.#load.get(chosen.name) ?? 0) + 1)
    return chosen.name
  }

  #isWell(node: LonghornNodeView, dataEngine: string): boolean {
    return (
      node.kubernetes === 'ready' &&
      !node.isCordoned &&
      !node.isDraining &&
      !node.isEvictionAsked &&
      (this.#managers.get(node.name) ?? []).some(
        (manager) => manager.type !== 'replica' && manager.dataEngine === dataEngine,
      )
    )
  }

  #dataEngineOf(copies: readonly ReplicaView[]): string {
    const names = new Set(copies.map(({ instanceManager }) => instanceManager))
    return this.#snapshot.instanceManagers.find(({ name }) => names.has(name))?.dataEngine ?? 'v1'
  }

  #copiesOf({ name }: VolumeView): readonly ReplicaView[] {
    return this.#copies.get(name) ?? []
  }
}

/** Longhorn's word, where it gives one: a setting of its own decides whether cordoned nodes take replicas. */
function takesReplicas(node: LonghornNodeView): boolean {
  return node.kubernetes === 'ready' && !node.isEvictionAsked && (node.takesReplicas ?? !node.isCordoned)
}

function isKept({ healthyAt, failedAt, isEvictionRequested, isBeingDeleted }: ReplicaView): boolean {
  return healthyAt !== '' && failedAt === '' && !isEvictionRequested && !isBeingDeleted
}

function push<T>(map: Map<string, T[]>, key: string, item: T): void {
  const items = map.get(key)
  if (items === undefined) map.set(key, [item])
  else items.push(item)
}

function byName(left: { readonly name: string }, right: { readonly name: string }): number {
  return left.name < right.name ? -1 : left.name > right.name ? 1 : 0
}
