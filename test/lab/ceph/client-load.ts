import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Daemon, startDaemon } from '../processes/daemon.ts'
import type { Journal } from '../processes/journal.ts'
import type { LabFolder } from '../processes/lab-folder.ts'
import { obey } from './create-pools.ts'
import type { ClientLoad, LabCeph, LoadReport } from './lab-ceph.ts'

export interface LoadOptions {
  readonly ceph: LabCeph
  readonly pools: readonly string[]
  readonly folder: LabFolder
  readonly journal: Journal
  /** How many objects each of its threads writes in turn. Default 12. */
  readonly names?: number
}

/** Longer than the client itself waits for operations that hang. */
const graceMs = 40_000

/** Begins to write and to read, as a user with rights on those pools only. */
export function startClientLoad(options: LoadOptions): ClientLoad {
  const { folder, journal } = options
  const name = `client.load-${randomBytes(3).toString('hex')}`
  const report = join(resolve(folder.path), `${name}.json`)
  const starting = begin(options, name, report)
  // Whoever stops the load hears of it.
  starting.catch(() => {})
  let stopped: Promise<LoadReport> | undefined
  return {
    stop() {
      stopped ??= end(starting, report).then((seen) => {
        const { writes, reads, faults, longestStallMs } = seen
        const stall = `longest stall ${Math.round(longestStallMs)} ms`
        journal.tell(name, `${writes} writes, ${reads} reads, ${faults.length} faults, ${stall}`)
        return seen
      })
      return stopped
    },
  }
}

async function begin(options: LoadOptions, name: string, report: string): Promise<Daemon> {
  const { ceph, pools, folder, journal, names = 12 } = options
  const rights = pools.map((pool) => `allow rw pool=${pool}`).join(', ')
  const keyring = join(resolve(folder.path), `${name}.keyring`)
  const user = { prefix: 'auth get-or-create', entity: name, caps: ['mon', 'allow r', 'osd', rights], format: 'plain' }
  await writeFile(keyring, await obey(ceph.commands, user))
  const { conf = '' } = ceph.operator
  const program = fileURLToPath(new URL('./client-load.py', import.meta.url))
  const access = ['--conf', conf, '--name', name, '--keyring', keyring, '--report', report, '--names', String(names)]
  return startDaemon({
    name,
    command: ['/usr/bin/python3', program, ...access, ...pools.flatMap((pool) => ['--pool', pool])],
    logFile: join(folder.logs, `${name}.log`),
    journal,
  })
}

async function end(starting: Promise<Daemon>, report: string): Promise<LoadReport> {
  const daemon = await starting
  await daemon.stop({ graceMs })
  try {
    return JSON.parse(await readFile(report, 'utf8')) as LoadReport
  } catch (cause) {
    throw new Error(`${daemon.name} ended without a report; see ${daemon.logFile}`, { cause })
  }
}
