import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type Random, randomUid } from '@cofferdam/kubernetes/runtime/random.ts'
import { entryOf } from '../entry-of.ts'
import { ancestorsOf, type CrushItem, type CrushTree } from './crush-tree.ts'

/** What the map holds of one OSD. Only the map itself changes it. */
export interface OsdEntry {
  readonly id: number
  readonly uuid: string
  isUp: boolean
  isIn: boolean
  /** The mons marked it out themselves, so it comes back in when it boots. */
  isAutoOut: boolean
  /** The OSD has never been up: its first boot brings it in, unless a flag forbids it. */
  isNew: boolean
  upFrom: number
  upThru: number
  downAt: number
  downSinceMs: number
  /** Each process has another one. */
  nonce: number
  host: string | undefined
  pod: string | undefined
  /** Which process it was that booted. */
  process: string | undefined
  address: string
  readonly flags: Set<string>
}

export interface EpochBegin {
  readonly epoch: number
  readonly atMs: number
}

export const groupFlags: readonly string[] = ['noup', 'nodown', 'noin', 'noout']
const firstFlags = ['sortbitwise', 'recovery_deletes', 'purged_snapdirs', 'pglog_hardlimit']

/** The OSD map as the mons hold it: every change is a new epoch. */
export class OsdMap {
  readonly fsid: string
  readonly createdMs: number
  /** Cluster-wide. */
  readonly flags = new Set(firstFlags)
  readonly bucketFlags = new Map<string, Set<string>>()
  readonly classFlags = new Map<string, Set<string>>()
  readonly #clock: Clock
  readonly #random: Random
  readonly #osds: Map<number, OsdEntry>
  #tree: CrushTree
  /** When each of the last epochs began, oldest first. */
  readonly #history: EpochBegin[] = []
  #epoch: number
  #revision = 0
  modifiedMs: number
  upChangedMs: number
  inChangedMs: number

  constructor(ports: { clock: Clock; random: Random; tree: CrushTree; fsid: string }) {
    const { clock, random, tree, fsid } = ports
    this.#clock = clock
    this.#random = random
    this.#tree = tree
    this.fsid = fsid
    this.createdMs = clock.now()
    this.modifiedMs = this.createdMs
    this.upChangedMs = this.createdMs
    this.inChangedMs = this.createdMs
    this.#osds = new Map(tree.osdIds.map((id) => [id, newOsd(id, randomUid(random.stream(`osd.${id}`)))]))
    // One epoch for each OSD that was made, some for the first configuration.
    this.#epoch = 10 + this.osds.size
    this.#history.push({ epoch: this.#epoch, atMs: this.createdMs })
  }

  get tree(): CrushTree {
    return this.#tree
  }

  /** Ascending by id. */
  get osds(): ReadonlyMap<number, OsdEntry> {
    return this.#osds
  }

  get epoch(): number {
    return this.#epoch
  }

  isUp(osd: number): boolean {
    return this.osds.get(osd)?.isUp ?? false
  }

  isIn(osd: number): boolean {
    return this.osds.get(osd)?.isIn ?? false
  }

  /** The epoch that was current then, and when it began; undefined where that is forgotten. */
  epochAt(atMs: number): EpochBegin | undefined {
    return this.#history.findLast((entry) => entry.atMs <= atMs)
  }

  /** Another number after each change, also those that make no new epoch. */
  get revision(): number {
    return this.#revision
  }

  /** The primary of a group reports to the mons that it got through to this epoch. */
  noteUpThru(id: number): void {
    const osd = this.osds.get(id)
    if (osd === undefined || osd.upThru === this.#epoch) return
    osd.upThru = this.#epoch
    this.#revision += 1
  }

  bump(): number {
    this.#epoch += 1
    this.#revision += 1
    this.modifiedMs = this.#clock.now()
    this.#history.push({ epoch: this.#epoch, atMs: this.modifiedMs })
    if (this.#history.length > 2_000) this.#history.splice(0, 1_000)
    return this.#epoch
  }

  /** As `osd new` does: it exists, down and out, and is not yet in the CRUSH map. */
  addOsd(id: number): void {
    if (this.#osds.has(id)) throw new RangeError(`there is already an osd.${id}`)
    const added = { ...newOsd(id, randomUid(this.#random.stream(`osd.${id}`))), isIn: false, isNew: true }
    const sorted = [...this.#osds, [id, added] as const].sort(([a], [b]) => a - b)
    this.#osds.clear()
    for (const [key, osd] of sorted) this.#osds.set(key, osd)
    this.bump()
  }

  replaceTree(tree: CrushTree): void {
    this.#tree = tree
    this.bump()
  }

  /** One that the mons had marked out is in again with the same map, unless a flag forbids it. */
  markUp(id: number, sight: Pick<OsdEntry, 'host' | 'pod' | 'process' | 'address'>): void {
    const osd = this.#entry(id)
    osd.upFrom = this.bump()
    if ((osd.isAutoOut || osd.isNew) && !this.hasFlag(id, 'noin')) {
      osd.isIn = true
      osd.isAutoOut = false
      this.inChangedMs = this.modifiedMs
    }
    osd.isNew = false
    osd.upThru = osd.upFrom
    osd.isUp = true
    osd.nonce = 1 + Math.floor(this.#random.stream(`osd.${id}`).next() * 0xffff_fffe)
    Object.assign(osd, sight)
    this.upChangedMs = this.modifiedMs
  }

  markDown(id: number): void {
    const osd = this.#entry(id)
    osd.downAt = this.bump()
    osd.downSinceMs = this.modifiedMs
    osd.isUp = false
    this.upChangedMs = this.modifiedMs
  }

  markIn(id: number): void {
    this.#setIn(id, true, false)
  }

  markOut(id: number, by: 'mons' | 'command'): void {
    this.#setIn(id, false, by === 'mons')
  }

  setFlag(flag: string, on: boolean): void {
    if (this.flags.has(flag) === on) return
    change(this.flags, flag, on)
    this.bump()
  }

  /** Without a new epoch: one command may name several targets. */
  setGroupFlags(target: GroupTarget, flags: readonly string[], on: boolean): void {
    const held = this.#flagsOf(target)
    for (const flag of flags) change(held, flag, on)
    if (target.kind === 'bucket' && held.size === 0) this.bucketFlags.delete(target.name)
    if (target.kind === 'class' && held.size === 0) this.classFlags.delete(target.name)
  }

  /** Cluster-wide, on the OSD, on its class, or on any bucket that holds it. */
  hasFlag(id: number, flag: string): boolean {
    const item = this.tree.byId.get(id)
    if (this.flags.has(flag) || this.osds.get(id)?.flags.has(flag)) return true
    if (item === undefined) return false
    if (this.classFlags.get(item.deviceClass ?? '')?.has(flag)) return true
    for (const bucket of ancestorsOf(item)) if (this.bucketFlags.get(bucket.name)?.has(flag)) return true
    return false
  }

  /** Not a single OSD below is up. */
  isWhollyDown(item: CrushItem): boolean {
    return item.osds.every((osd) => !this.isUp(osd))
  }

  #flagsOf({ kind, name }: GroupTarget): Set<string> {
    if (kind === 'osd') return this.#entry(Number(name)).flags
    return entryOf(kind === 'bucket' ? this.bucketFlags : this.classFlags, name, () => new Set<string>())
  }

  #setIn(id: number, isIn: boolean, isAutoOut: boolean): void {
    const osd = this.#entry(id)
    osd.isIn = isIn
    osd.isAutoOut = isAutoOut
    this.bump()
    this.inChangedMs = this.modifiedMs
  }

  #entry(id: number): OsdEntry {
    const osd = this.osds.get(id)
    if (osd === undefined) throw new RangeError(`there is no osd.${id}`)
    return osd
  }
}

export interface GroupTarget {
  readonly kind: 'osd' | 'bucket' | 'class'
  /** An OSD's is its number. */
  readonly name: string
}

function change(flags: Set<string>, flag: string, on: boolean): void {
  if (on) flags.add(flag)
  else flags.delete(flag)
}

function newOsd(id: number, uuid: string): OsdEntry {
  return {
    id,
    uuid,
    isUp: false,
    isIn: true,
    isAutoOut: false,
    isNew: false,
    upFrom: 0,
    upThru: 0,
    downAt: 0,
    downSinceMs: 0,
    nonce: 0,
    host: undefined,
    pod: undefined,
    process: undefined,
    address: '',
    flags: new Set(),
  }
}
