import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { expect, it } from 'vitest'
import type { CephCommand, CephCommands } from '../ceph/ceph-commands.ts'
import { buildCephPorts } from './ceph.ts'
import { createLog } from './log.ts'

const { signal } = new AbortController()

function openPorts(mayAct: () => boolean) {
  const asked: CephCommand[] = []
  const commands: CephCommands = {
    async run(command) {
      asked.push(command)
      return { code: 0, out: '{}', err: '' }
    },
  }
  const counts = { countQuestion: () => {} }
  const ports = buildCephPorts({ clock: new VirtualClock(), dryRun: false, mayAct, log: createLog('silent'), counts })
  return { ports, commands, asked }
}

it('sets no noout once the lead may have passed on: seed 1969 left it on an OSD, and no record of the new leader named it', async () => {
  const { ports, commands, asked } = openPorts(() => false)
  const osds = ports.applyOsdNoout(commands, { set: [0], unset: [] }, signal)
  const buckets = ports.applyNoout(commands, { set: ['node-a'], unset: [] }, signal)
  await expect(osds).rejects.toMatchObject({ code: 'LEAD_LOST' })
  await expect(buckets).rejects.toMatchObject({ code: 'LEAD_LOST' })
  expect(asked).toEqual([])
})

it('sets it while it leads', async () => {
  const { ports, commands, asked } = openPorts(() => true)
  expect(await ports.applyOsdNoout(commands, { set: [0], unset: [] }, signal)).toEqual([])
  expect(asked).toEqual([{ prefix: 'osd set-group', flags: 'noout', who: ['osd.0'] }])
})
