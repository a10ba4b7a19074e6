import { join } from 'node:path'
import { realRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import type { CephAccess } from '@cofferdam/product/ceph/ceph-access.ts'
import { createRadosCommands } from '@cofferdam/product/ceph/rados-commands.ts'
import type { CephDescription } from '@cofferdam/simulator/world/ceph/ceph-description.ts'
import { findCeph } from '../parts/find-ceph.ts'
import type { CephRelease } from '../parts/parts.ts'
import { type Journal, openJournal } from '../processes/journal.ts'
import { type LabFolder, openLabFolder } from '../processes/lab-folder.ts'
import type { LabCeph } from './lab-ceph.ts'
import { startCeph } from './start-ceph.ts'

/** A real Ceph without Kubernetes around it. */
export interface CephLab {
  readonly release: CephRelease
  readonly ceph: LabCeph
  readonly folder: LabFolder
  readonly journal: Journal
  /** Ceph as this user sees it. */
  connect(access: CephAccess): ReturnType<typeof createRadosCommands>
  close(): Promise<void>
}

export const labRelease = (process.env['COFFERDAM_LAB_CEPH'] ?? '16') as CephRelease

export async function openLabCeph(name: string, description: CephDescription): Promise<CephLab> {
  const folder = await openLabFolder(name)
  const journal = openJournal(join(folder.logs, 'journal.log'))
  const connections: ReturnType<typeof createRadosCommands>[] = []
  try {
    const parts = await findCeph(labRelease, (line) => journal.tell('lab', line))
    const ceph = await startCeph({ parts, description, folder, journal })
    return {
      release: labRelease,
      ceph,
      folder,
      journal,
      connect(access) {
        const options = { clock: realClock, random: realRandom, environment: process.env, access }
        const connection = createRadosCommands(options)
        connections.push(connection)
        return connection
      },
      async close() {
        for (const connection of connections) await connection.close()
        await ceph.close()
        await folder.remove()
      },
    }
  } catch (error) {
    await folder.remove()
    throw error
  }
}
