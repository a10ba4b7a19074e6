import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import type { Timers } from '../ceph/timers.ts'
import { DataBlocks, drawBytes } from './data-blocks.ts'
import { Rebuild } from './rebuild.ts'
import type { ReplicaStore } from './replica-store.ts'
import type { VolumeProcesses } from './volume-processes.ts'

export type ReplicaMode = 'RW' | 'WO' | 'ERR'

interface EngineProcess {
  readonly volume: string
  readonly instanceManager: string
  readonly node: string
  readonly modes: Map<string, ReplicaMode>
}

export interface VerifiedReplica {
  readonly replica: string
  readonly node: string
  readonly mode: ReplicaMode | 'stopped'
  /** Blocks that are not what was written; none: it is a true copy. */
  readonly wrongBlocks: readonly number[]
}

export interface DataPlanePorts {
  readonly timers: Timers
  readonly random: Random
  readonly shape: { readonly count: number; readonly blockBytes: number }
  readonly ioTimeoutMs: number
  readonly isDelta: () => boolean
  /** Bytes per second. */
  readonly rate: () => number
  /** How many bytes one block stands for. */
  readonly bytesPerBlock: (volume: string) => number
  readonly onChange: (volume: string) => void
  /** None: there is nothing behind what is here. */
  readonly processes?: VolumeProcesses
}

/**
 * The processes and the bytes: replicas on disks, engines that write to them, rebuilds that copy.
 *
 * Guarantees: a write that is taken is in every replica whose mode is RW; a replica becomes RW only with the volume's
 * data on it.
 */
export class DataPlane {
  readonly #ports: DataPlanePorts
  readonly #stores = new Map<string, ReplicaStore>()
  readonly #truth = new Map<string, DataBlocks>()
  readonly #engines = new Map<string, EngineProcess>()
  /** Instance managers in which replicas run. */
  readonly #running = new Map<string, string>()
  readonly #rebuilds = new Map<string, Rebuild>()
  /** Replicas whose process died under an engine, until somebody wrote it down. */
  readonly #crashed = new Set<string>()
  readonly #revisions = new Map<string, number>()

  constructor(ports: DataPlanePorts) {
    this.#ports = ports
  }

  /** A volume of which the given share is full of data. */
  addVolume(volume: string, filled: number): void {
    if (this.#truth.has(volume)) return
    const { shape, random } = this.#ports
    const blocks = new DataBlocks(shape)
    const count = Math.round(filled * shape.count)
    for (let block = 0; block < count; block += 1) blocks.write(block, drawBytes(random, shape.blockBytes))
    this.#truth.set(volume, blocks)
  }

  dropVolume(volume: string): void {
    this.stopEngine(volume)
    this.#truth.delete(volume)
    this.#revisions.delete(volume)
    for (const store of Array.from(this.#stores.values())) if (store.volume === volume) this.dropStore(store.replica)
  }

  /** `whole`: of a new volume, with what it begins with. Otherwise empty, to be rebuilt. */
  addStore(place: Pick<ReplicaStore, 'replica' | 'volume' | 'node' | 'diskUuid'>, isWhole: boolean): void {
    if (this.#stores.has(place.replica)) return
    const blocks = new DataBlocks(this.#ports.shape)
    const truth = this.#truthOf(place.volume)
    if (isWhole) for (const block of truth.written()) blocks.copyFrom(truth, block)
    const revision = isWhole ? this.#revisionOf(place.volume) : 0
    this.#stores.set(place.replica, { ...place, blocks, revision, isWhole, isBroken: false })
  }

  dropStore(replica: string): void {
    const store = this.#stores.get(replica)
    this.#stores.delete(replica)
    this.#crashed.delete(replica)
    if (store === undefined) return
    this.#ports.processes?.dropReplica(replica)
    this.stopReplica(replica)
    this.#endRebuildOnto(store)
    this.#engines.get(store.volume)?.modes.delete(replica)
    this.#endWithoutData(store.volume)
  }

  storeOf(replica: string): Readonly<ReplicaStore> | undefined {
    return this.#stores.get(replica)
  }

  storesOn(diskUuid: string): Readonly<ReplicaStore>[] {
    return [...this.#stores.values()].filter((store) => store.diskUuid === diskUuid)
  }

  /** Names of the replicas of which there is something on a disk. */
  storesOf(volume: string): string[] {
    return [...this.#stores.values()].filter((store) => store.volume === volume).map(({ replica }) => replica)
  }

  usedBlocks(volume: string): number {
    return this.#truth.get(volume)?.usedCount ?? 0
  }

  /** The instance manager in which it runs. */
  hostOf(replica: string): string | undefined {
    return this.#running.get(replica)
  }

  hasCrashed(replica: string): boolean {
    return this.#crashed.has(replica)
  }

  forgetCrash(replica: string): void {
    this.#crashed.delete(replica)
  }

  engineOf(volume: string): { readonly node: string; readonly instanceManager: string } | undefined {
    return this.#engines.get(volume)
  }

  modesOf(volume: string): ReadonlyMap<string, ReplicaMode> {
    return this.#engines.get(volume)?.modes ?? new Map()
  }

  rebuildOf(volume: string): Rebuild | undefined {
    return this.#rebuilds.get(volume)
  }

  rebuildsOnto(node: string): number {
    return [...this.#rebuilds.values()].filter(({ target }) => target.node === node).length
  }

  enginesIn(instanceManager: string): string[] {
    const found = [...this.#engines.values()].filter((engine) => engine.instanceManager === instanceManager)
    return found.map(({ volume }) => volume).sort()
  }

  replicasIn(instanceManager: string): string[] {
    return [...this.#running]
      .filter(([, host]) => host === instanceManager)
      .map(([replica]) => replica)
      .sort()
  }

  /** Starts the engine over the given replicas, of which those that are behind or not whole are refused. */
  startEngine(engine: {
    readonly volume: string
    readonly node: string
    readonly instanceManager: string
    readonly replicas: readonly { readonly name: string; readonly instanceManager: string }[]
  }): void {
    const stores = engine.replicas.map(({ name }) => this.#stores.get(name))
    const newest = Math.max(0, ...stores.map((store) => (isSound(store) ? store.revision : 0)))
    const modes = new Map<string, ReplicaMode>()
    for (const { name, instanceManager } of engine.replicas) {
      const store = this.#stores.get(name)
      const isGood = isSound(store) && store.revision === newest
      modes.set(name, isGood ? 'RW' : 'ERR')
      if (isGood) this.#running.set(name, instanceManager)
    }
    this.#revisions.set(engine.volume, newest)
    this.#engines.set(engine.volume, { ...engine, modes })
    const good = engine.replicas.filter(({ name }) => modes.get(name) === 'RW')
    this.#ports.processes?.startEngine(
      engine.volume,
      good.map(({ name }) => ({ replica: name, node: this.#stores.get(name)?.node ?? '' })),
    )
    this.#endWithoutData(engine.volume)
  }

  stopEngine(volume: string): void {
    const engine = this.#engines.get(volume)
    if (engine === undefined) return
    this.#rebuilds.get(volume)?.stop()
    this.#rebuilds.delete(volume)
    this.#engines.delete(volume)
    this.#ports.processes?.stopEngine(volume)
    for (const [replica, mode] of engine.modes) {
      this.stopReplica(replica)
      if (mode !== 'RW') this.#crashed.add(replica)
    }
  }

  /** A second process over the directory of a replica, for another engine image. The directory stays with the replica. */
  startDouble(double: string, instanceManager: string): void {
    this.#running.set(double, instanceManager)
  }

  /** The directory of a replica is its double's from now on, and the engine uses that one. False: there is no directory any more. */
  handOver(replica: string, double: string): boolean {
    const store = this.#stores.get(replica)
    if (store === undefined) return false
    this.#stores.delete(replica)
    this.#stores.set(double, { ...store, replica: double })
    const modes = this.#engines.get(store.volume)?.modes
    const mode = modes?.get(replica)
    modes?.delete(replica)
    if (mode !== undefined) modes?.set(double, mode)
    this.stopReplica(replica)
    return true
  }

  stopReplica(replica: string): void {
    if (this.#running.delete(replica)) this.#ports.processes?.stopReplica(replica)
  }

  /** Takes a replica that failed out of the engine's list. */
  removeFromEngine(volume: string, replica: string): void {
    const modes = this.#engines.get(volume)?.modes
    if (modes?.get(replica) === 'ERR') modes.delete(replica)
    this.stopReplica(replica)
  }

  /** Adds a replica that lacks the data; it is RW once a source has given it all. */
  startRebuild(volume: string, replica: string, instanceManager: string): void {
    const engine = this.#engines.get(volume)
    const target = this.#stores.get(replica)
    if (engine === undefined || target === undefined || this.#rebuilds.has(volume)) return
    engine.modes.set(replica, 'WO')
    this.#running.set(replica, instanceManager)
    const { timers, isDelta, rate, bytesPerBlock, onChange, processes } = this.#ports
    const behind = processes?.rebuild(volume, { replica, node: target.node })
    const rebuild = new Rebuild({
      timers,
      rate,
      bytesPerBlock: bytesPerBlock(volume),
      target,
      isDelta: isDelta(),
      source: () => this.#sourceFor(volume),
      ...(behind === undefined ? {} : { behind }),
      onProgress: () => onChange(volume),
      onEnd: (isDone) => {
        this.#rebuilds.delete(volume)
        if (isDone) {
          target.revision = this.#revisionOf(volume)
          engine.modes.set(replica, 'RW')
          onChange(volume)
        } else this.#fail(replica)
      },
    })
    this.#rebuilds.set(volume, rebuild)
    rebuild.start()
  }

  /** Throws when no engine can take the write; nothing has changed then. */
  write(volume: string, block: number, bytes: Uint8Array): void {
    const engine = this.#engines.get(volume)
    const writable = [...(engine?.modes ?? [])].filter(([, mode]) => mode === 'RW').map(([replica]) => replica)
    if (engine === undefined || writable.length === 0) throw new RangeError(`volume "${volume}" is not attached`)
    this.#truthOf(volume).write(block, bytes)
    const revision = this.#revisionOf(volume) + 1
    this.#revisions.set(volume, revision)
    for (const replica of writable) {
      const store = this.#stores.get(replica) as ReplicaStore
      store.blocks.write(block, bytes)
      store.revision = revision
    }
    this.#rebuilds.get(volume)?.take(block, bytes)
  }

  /** All that ran in this instance manager is gone. */
  loseInstanceManager(instanceManager: string): void {
    for (const replica of this.replicasIn(instanceManager)) this.#fail(replica)
    for (const volume of this.enginesIn(instanceManager)) this.#loseEngine(volume)
  }

  failReplica(replica: string): void {
    this.#fail(replica)
  }

  breakDisk(diskUuid: string, isBroken: boolean): void {
    for (const store of this.#stores.values()) {
      if (store.diskUuid !== diskUuid) continue
      store.isBroken = isBroken
      if (isBroken) this.#fail(store.replica)
    }
  }

  corruptBlock(replica: string, block: number): void {
    this.#stores.get(replica)?.blocks.corrupt(block)
  }

  /** Compares copies with what was written. */
  verify(volume: string, replicas: readonly string[]): VerifiedReplica[] {
    const truth = this.#truthOf(volume)
    return replicas.map((replica) => {
      const store = this.#stores.get(replica)
      const mode = this.modesOf(volume).get(replica) ?? 'stopped'
      const wrongBlocks = isSound(store) ? store.blocks.differencesTo(truth) : truth.written()
      return { replica, node: store?.node ?? '', mode, wrongBlocks }
    })
  }

  /** The replicas from which the volume may start again: whole, on a good disk, and not behind each other. */
  newestOf(replicas: readonly string[]): string[] {
    const sound = replicas.map((replica) => this.#stores.get(replica)).filter(isSound)
    const newest = Math.max(0, ...sound.map(({ revision }) => revision))
    return sound.filter(({ revision }) => revision === newest).map(({ replica }) => replica)
  }

  stop(): void {
    for (const rebuild of this.#rebuilds.values()) rebuild.stop()
  }

  #fail(replica: string): void {
    const store = this.#stores.get(replica)
    this.stopReplica(replica)
    if (store === undefined) return
    const engine = this.#engines.get(store.volume)
    if (engine?.modes.has(replica) !== true) return
    engine.modes.set(replica, 'ERR')
    this.#crashed.add(replica)
    this.#endRebuildOnto(store)
    this.#endWithoutData(store.volume)
    this.#ports.timers.after(this.#ports.ioTimeoutMs, () => this.#ports.onChange(store.volume))
  }

  #endRebuildOnto({ replica, volume }: ReplicaStore): void {
    const rebuild = this.#rebuilds.get(volume)
    if (rebuild?.target.replica !== replica) return
    rebuild.stop()
    this.#rebuilds.delete(volume)
  }

  /** The engine is gone, not what it wrote to: its replicas are as whole as they were. */
  #loseEngine(volume: string): void {
    this.stopEngine(volume)
    this.#ports.onChange(volume)
  }

  /** An engine that can neither read nor write ends. */
  #endWithoutData(volume: string): void {
    const engine = this.#engines.get(volume)
    if (engine === undefined || [...engine.modes.values()].includes('RW')) return
    this.#loseEngine(volume)
  }

  #sourceFor(volume: string): ReplicaStore | undefined {
    const modes = this.#engines.get(volume)?.modes ?? new Map<string, ReplicaMode>()
    const sources = [...modes]
      .filter(([, mode]) => mode === 'RW')
      .map(([replica]) => replica)
      .sort()
    return sources.map((replica) => this.#stores.get(replica)).find(isSound)
  }

  #revisionOf(volume: string): number {
    return this.#revisions.get(volume) ?? 0
  }

  #truthOf(volume: string): DataBlocks {
    const truth = this.#truth.get(volume)
    if (truth === undefined) throw new RangeError(`there is no volume "${volume}"`)
    return truth
  }
}

function isSound(store: ReplicaStore | undefined): store is ReplicaStore {
  return store?.isWhole === true && !store.isBroken
}
