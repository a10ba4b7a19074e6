import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { errorText } from '@cofferdam/product/operator/log.ts'
import type { ReplicaMode } from '@cofferdam/simulator/world/longhorn/data-plane.ts'
import type { ReplicaPlace, VolumeProcesses } from '@cofferdam/simulator/world/longhorn/volume-processes.ts'
import type { LonghornEngineParts } from '../parts/parts.ts'
import { type Daemon, startDaemon } from '../processes/daemon.ts'
import { freePortRun } from '../processes/free-port.ts'
import type { Journal } from '../processes/journal.ts'
import type { LabFolder } from '../processes/lab-folder.ts'
import { startProgram } from '../processes/run-program.ts'
import { withFolderAt } from '../processes/with-folder-at.ts'
import type { ReplicaEnd } from './copies-at-risk.ts'

/** A replica has most: commands, data, its sync agent, and ten on which that takes files. */
const portsOfProcess = 16
const startMs = 20_000

interface ReplicaProcess extends ReplicaPlace {
  readonly volume: string
  readonly daemon: Daemon
  readonly address: string
}

interface EngineProcess {
  readonly daemon: Daemon
  readonly address: string
  readonly socket: string
}

export interface EngineProcessesOptions {
  readonly parts: LonghornEngineParts
  readonly folder: Pick<LabFolder, 'path' | 'logs'>
  readonly journal: Journal
  readonly volumeBytes: number
}

/**
 * Longhorn's own engine behind the volumes of a lab: one controller process for each engine, one replica process for each replica.
 *
 * Guarantees: what happens to processes happens in the order in which it was told, and rebuilds run beside it.
 * Assumes: the checkout is on a file system that tells the extents of its files, which one in memory does not.
 */
export class EngineProcesses implements VolumeProcesses {
  readonly #options: EngineProcessesOptions
  readonly #engines = new Map<string, EngineProcess>()
  readonly #replicas = new Map<string, ReplicaProcess>()
  /** Directories, also of replicas that do not run. */
  readonly #places = new Map<string, ReplicaPlace & { readonly volume: string }>()
  /** Replicas by the addresses that an engine knows them by, also of processes that are gone. */
  readonly #names = new Map<string, string>()
  /** By volume: replicas that were whole when its engine was last asked. */
  readonly #whole = new Map<string, readonly string[]>()
  #last: Promise<unknown> = Promise.resolve()
  #count = 0

  /** Every end of a replica, in its order. */
  readonly ends: ReplicaEnd[] = []
  /** What could not be done. */
  readonly faults: string[] = []

  constructor(options: EngineProcessesOptions) {
    this.#options = options
  }

  startEngine(volume: string, replicas: readonly ReplicaPlace[]): void {
    void this.#inOrder(`start the engine of ${volume}`, async () => {
      const started = await Promise.all(replicas.map((place) => this.#startReplica(volume, place)))
      if (started.length > 0) await this.#startController(volume, started)
    })
  }

  stopEngine(volume: string): void {
    void this.#inOrder(`stop the engine of ${volume}`, async () => {
      await this.#askWhole(volume)
      const engine = this.#engines.get(volume)
      this.#engines.delete(volume)
      await engine?.daemon.stop()
    })
  }

  async rebuild(volume: string, target: ReplicaPlace): Promise<void> {
    const { address } = await this.#inOrder(`start ${target.replica}`, () => this.#startReplica(volume, target))
    const size = ['--size', `${this.#options.volumeBytes}`, '--current-size', `${this.#options.volumeBytes}`]
    await this.#command(volume, 'add-replica', ...size, '--replica-instance-name', target.replica, address)
    if ((await this.modes(volume)).get(target.replica) !== 'RW') throw new Error(`${target.replica} is not whole`)
    this.#tell(`${target.replica} is RW, says the engine`)
  }

  stopReplica(replica: string): void {
    void this.#inOrder(`stop ${replica}`, () => this.#stopReplica(replica))
  }

  dropReplica(replica: string): void {
    void this.#inOrder(`drop ${replica}`, async () => {
      const place = this.#places.get(replica)
      if (place === undefined) return
      const { volume, node } = place
      await this.#askWhole(volume)
      this.#record('deleted', place)
      const address = this.#replicas.get(replica)?.address
      if (this.isEngineRunning(volume) && address !== undefined) await this.#command(volume, 'rm-replica', address)
      await this.#stopReplica(replica)
      await rm(this.directoryOf(place), { recursive: true })
      this.#places.delete(replica)
      this.#tell(`the directory of ${replica} on ${node} is deleted`)
    })
  }

  /** Resolves when all that was told has been done, but for rebuilds. */
  async settled(): Promise<void> {
    await this.#last
  }

  /** As the engine itself says. */
  async modes(volume: string): Promise<ReadonlyMap<string, ReplicaMode>> {
    const rows = (await this.#command(volume, 'ls-replica')).split('\n').slice(1)
    const modes = new Map<string, ReplicaMode>()
    for (const row of rows) {
      const [address = '', mode = ''] = row.split(/\s+/)
      if (address !== '') modes.set(this.#names.get(address) ?? address, mode as ReplicaMode)
    }
    return modes
  }

  /** Of a replica's process, where it runs. */
  pidOf(replica: string): number | undefined {
    return this.#replicas.get(replica)?.daemon.pid
  }

  directoryOf({ replica, node }: ReplicaPlace): string {
    return resolve(this.#options.folder.logs, 'disks', node, replica)
  }

  isEngineRunning(volume: string): boolean {
    return this.#engines.get(volume)?.daemon.isRunning() === true
  }

  async write(volume: string, offset: number, bytes: Uint8Array): Promise<void> {
    this.#count += 1
    const file = join(this.#options.folder.path, `write-${this.#count}`)
    await writeFile(file, bytes)
    try {
      await this.#io(volume, '-offset', `${offset}`, '-from', file, 'write')
    } finally {
      await rm(file)
    }
  }

  /** SHA-256 of all its bytes, read through the engine. Rejects where they cannot be read. */
  async checksum(volume: string): Promise<string> {
    return (await this.#io(volume, '-length', `${this.#options.volumeBytes}`, 'sum')).trim()
  }

  async close(): Promise<void> {
    await this.#last
    for (const { daemon } of [...this.#engines.values(), ...this.#replicas.values()]) await daemon.stop()
    await rm(resolve(this.#options.folder.logs, 'disks'), { recursive: true, force: true })
  }

  #inOrder<T>(task: string, work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch((error: unknown) => {
      this.faults.push(`${task}: ${errorText(error)}`)
      this.#tell(`could not ${task}: ${errorText(error)}`)
    })
    // Whoever waits hears of it; nobody has to.
    done.catch(() => {})
    return done
  }

  async #startReplica(volume: string, place: ReplicaPlace): Promise<ReplicaProcess> {
    const { replica } = place
    const running = this.#replicas.get(replica)
    if (running?.daemon.isRunning() === true) return running
    const { parts, volumeBytes } = this.#options
    const directory = this.directoryOf(place)
    await mkdir(directory, { recursive: true })
    this.#places.set(replica, { ...place, volume })
    const first = await freePortRun(portsOfProcess)
    const listen = `127.0.0.1:${first}`
    const daemon = this.#start(replica, [
      parts.engine,
      '--volume-name',
      volume,
      'replica',
      directory,
      '--listen',
      listen,
      '--size',
      `${volumeBytes}`,
      '--replica-instance-name',
      replica,
    ])
    const started = { ...place, volume, daemon, address: `tcp://${listen}` }
    this.#replicas.set(replica, started)
    this.#names.set(started.address, replica)
    // Its sync agent, a process of its own, is the last to listen.
    for (const port of [first, first + 1, first + 2]) await this.#untilListening(daemon, port)
    return started
  }

  async #startController(volume: string, replicas: readonly ReplicaProcess[]): Promise<void> {
    const { parts, folder, volumeBytes } = this.#options
    const port = await freePortRun(portsOfProcess)
    const address = `127.0.0.1:${port}`
    const sockets = join(folder.path, 'sockets')
    const socket = join(sockets, `longhorn-${volume}.sock`)
    await mkdir(sockets, { recursive: true })
    await rm(socket, { force: true })
    const command = [
      parts.engine,
      '--volume-name',
      volume,
      'controller',
      volume,
      '--frontend',
      'socket',
      '--listen',
      address,
      '--size',
      `${volumeBytes}`,
      '--current-size',
      `${volumeBytes}`,
      ...replicas.flatMap((replica) => ['--replica', replica.address]),
    ] as const
    // The engine knows one folder for its sockets, and other labs have theirs.
    const daemon = this.#start(`${volume}-e`, withFolderAt({ folder: sockets, at: '/var/run' }, ...command))
    await this.#untilListening(daemon, port)
    await until(() => existsSync(socket), `the engine of ${volume} takes reads and writes`)
    this.#engines.set(volume, { daemon, address, socket })
    await this.#askWhole(volume)
  }

  async #stopReplica(replica: string): Promise<void> {
    const running = this.#replicas.get(replica)
    if (running === undefined) return
    await this.#askWhole(running.volume)
    this.#record('stopped', running)
    this.#replicas.delete(replica)
    await running.daemon.stop()
  }

  #record(what: ReplicaEnd['what'], { replica, volume }: ReplicaPlace & { readonly volume: string }): void {
    const whole = this.#whole.get(volume) ?? []
    const end = { what, replica, isEngineRunning: this.isEngineRunning(volume), whole }
    this.ends.push(end)
    this.#tell(`${replica} is to be ${what}; whole, says the engine: ${whole.join(', ') || 'none'}`)
  }

  /** Keeps what the engine says of its replicas; of one that is gone, what it said last. */
  async #askWhole(volume: string): Promise<void> {
    if (!this.isEngineRunning(volume)) return
    const writable = [...(await this.modes(volume))].filter(([, mode]) => mode === 'RW').map(([replica]) => replica)
    // An engine that nobody writes to learns of the end of a process a moment later.
    const whole = writable.filter((replica) => this.#replicas.get(replica)?.daemon.isRunning() === true)
    this.#whole.set(volume, whole)
  }

  async #command(volume: string, ...args: readonly string[]): Promise<string> {
    const engine = this.#engines.get(volume)
    if (engine === undefined) throw new Error(`no engine of ${volume} runs`)
    return this.#run(this.#options.parts.engine, '--url', engine.address, '--volume-name', volume, ...args)
  }

  async #io(volume: string, ...args: readonly string[]): Promise<string> {
    const engine = this.#engines.get(volume)
    if (engine === undefined) throw new Error(`no engine of ${volume} runs`)
    return this.#run(this.#options.parts.io, '-socket', engine.socket, ...args)
  }

  async #run(program: string, ...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await startProgram([program, ...args]).ended
    if (code !== 0) throw new Error(`exit code ${code}: ${stderr.trim().split('\n').at(-1)}`)
    return stdout
  }

  #start(name: string, command: readonly [string, ...string[]]): Daemon {
    const { folder, journal } = this.#options
    return startDaemon({ name, command, logFile: join(folder.logs, `${name}.log`), journal })
  }

  async #untilListening(daemon: Daemon, port: number): Promise<void> {
    await until(async () => {
      if (!daemon.isRunning()) {
        const last = (await readFile(daemon.logFile, 'utf8')).trimEnd().split('\n').at(-1)
        throw new Error(`${daemon.name} ended: ${last}`)
      }
      return canConnect(port)
    }, `${daemon.name} listens`)
  }

  #tell(line: string): void {
    this.#options.journal.tell('longhorn-engine', line)
  }
}

/** What a volume is to hold, byte by byte: what was written and nothing else. */
export class WrittenBytes {
  readonly #bytes: Buffer

  constructor(count: number) {
    this.#bytes = Buffer.alloc(count)
  }

  /** Random bytes for a place; they count as written. */
  draw(offset: number, count: number): Uint8Array {
    const bytes = randomBytes(count)
    this.#bytes.set(bytes, offset)
    return bytes
  }

  checksum(): string {
    return createHash('sha256').update(this.#bytes).digest('hex')
  }
}

async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const began = performance.now()
  while (!(await holds())) {
    if (performance.now() - began > startMs) throw new Error(`not within ${startMs / 1_000} s: ${what}`)
    await pause(50)
  }
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
