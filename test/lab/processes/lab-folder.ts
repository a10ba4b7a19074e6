import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** In memory where the system has it: OSDs write a lot, and none of it is kept. */
const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
const prefix = 'cofferdam-lab-'

export interface LabFolder {
  /** Data of daemons; gone with the lab. */
  readonly path: string
  /** Logs; they stay until the next run of the same name. */
  readonly logs: string
  remove(): Promise<void>
}

/** Two folders for one lab. Data that a killed run left behind is cleared away first. */
export async function openLabFolder(name: string): Promise<LabFolder> {
  await sweepLabFolders()
  const path = await mkdtemp(join(parent, `${prefix}${process.pid}-`))
  const logs = join('.cofferdam', 'lab', name)
  await rm(logs, { recursive: true, force: true })
  await mkdir(logs, { recursive: true })
  return { path, logs, remove: () => rm(path, { recursive: true, force: true }) }
}

/** Removes the data folders of processes that are gone, and says which. */
export async function sweepLabFolders(): Promise<string[]> {
  const stale = (await readdir(parent)).filter((name) => {
    const owner = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN
    return Number.isInteger(owner) && owner !== process.pid && !existsSync(`/proc/${owner}`)
  })
  for (const name of stale) await rm(join(parent, name), { recursive: true, force: true })
  return stale.map((name) => join(parent, name))
}
