import { setTimeout as pause } from 'node:timers/promises'
import { askDaemon } from './admin-socket.ts'
import type { CephDaemons } from './ceph-daemons.ts'
import { obey } from './create-pools.ts'
import type { LabCeph } from './lab-ceph.ts'
import { type DumpedOsd, type DumpedPg, whyNotClean } from './why-not-clean.ts'

export interface CleanWait {
  readonly ceph: LabCeph
  readonly daemons: CephDaemons
  readonly osds: readonly number[]
  readonly withinSeconds: number
}

/** Waits until all OSDs whose processes run are up and every placement group is active+clean in fresh reports. */
export async function untilClean(wait: CleanWait): Promise<void> {
  const deadline = performance.now() + wait.withinSeconds * 1_000
  for (;;) {
    const why = await lookForTrouble(wait)
    if (why === undefined) return
    if (performance.now() > deadline) throw new Error(`Ceph is not clean after ${wait.withinSeconds} s: ${why}`)
    await pause(100)
  }
}

async function lookForTrouble({ ceph, daemons, osds }: CleanWait): Promise<string | undefined> {
  const expectedOsds = osds.filter((id) => ceph.daemon(`osd.${id}`)?.isRunning() === true)
  // The map may still tell of the process before; only the OSD itself knows that it is the one meant.
  const states = await Promise.all(
    expectedOsds.map((id) =>
      askDaemon(daemons.socketOf(`osd.${id}`), 'status').then(
        ({ state }) => state,
        () => 'silent',
      ),
    ),
  )
  const booting = expectedOsds.filter((_, index) => states[index] !== 'active')
  if (booting.length > 0) return `not active yet: ${booting.map((id) => `osd.${id}`).join(', ')}`
  const dump = JSON.parse(await obey(ceph.commands, { prefix: 'osd dump' })) as {
    readonly osds: readonly DumpedOsd[]
    readonly pools: readonly { readonly pg_num: number }[]
  }
  const listed = await ceph.commands.run({ prefix: 'pg dump', dumpcontents: ['pgs'] })
  if (listed.code !== 0) return `pg dump ended with ${listed.code}: ${listed.err}`
  const { pg_ready: isReady = true, pg_stats: pgs } = JSON.parse(listed.out) as {
    pg_ready?: boolean
    pg_stats: DumpedPg[]
  }
  if (!isReady) return 'the manager has not heard from all OSDs'
  const pgCount = dump.pools.reduce((sum, { pg_num: count }) => sum + count, 0)
  return whyNotClean({ osds: dump.osds, pgs, pgCount, expectedOsds })
}
