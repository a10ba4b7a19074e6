import { setTimeout as pause } from 'node:timers/promises'
import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import type { CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'
import {
  type CephFixture,
  cephNamespace,
  openCeph,
  smallDescription,
} from '@cofferdam/simulator/world/ceph/testing/ceph-fixture.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startClientLoad } from './ceph/client-load.ts'
import { obey } from './ceph/create-pools.ts'
import { type CephLab, openLabCeph } from './ceph/open-lab-ceph.ts'
import { type CephFault, drawFaults, faultText } from './ceph-faults/ceph-fault.ts'
import { type CephView, lookAtCeph, ofOneZone } from './ceph-faults/ceph-view.ts'

/** `COFFERDAM_LAB_FAULTS=200` for a longer run, `COFFERDAM_LAB_SEED` for other faults. */
const count = Number(process.env['COFFERDAM_LAB_FAULTS'] ?? '12')
const seed = Number(process.env['COFFERDAM_LAB_SEED'] ?? '1')

/** One copy in each zone: whether a zone may stop then does not depend on where CRUSH has put the others. */
const description = smallDescription({
  mons: ['a', 'b', 'c'],
  pools: [
    { name: 'rep', kind: 'replicated', size: 3, minSize: 2, failureDomain: 'zone', pgCount: 32 },
    { name: 'ec', kind: 'erasure', size: 3, minSize: 2, k: 2, m: 1, failureDomain: 'zone', pgCount: 32 },
  ],
  timings: { downOutIntervalMs: 24 * 3_600_000 },
})
const zones = Object.fromEntries(
  (description.crush.children ?? []).map(({ name, children = [] }) => [
    name,
    children.flatMap(({ osds = [] }) => osds.map(({ id }) => id)),
  ]),
)

let lab: CephLab
let simulated: CephFixture
beforeAll(async () => {
  lab = await openLabCeph('ceph-faults', description)
  simulated = await openCeph({ description })
  simulated.ceph.controls.tentacleOkToStop(lab.release === '20')
  await fill(lab.ceph.commands)
})
afterAll(async () => {
  simulated?.stop()
  await lab?.close()
})

/** Writes until there is something in every placement group: one without objects lacks nothing, whatever is down. */
async function fill(commands: CephCommands): Promise<void> {
  const load = startClientLoad({ ...lab, pools: ['rep', 'ec'], names: 400 })
  for (;;) {
    await pause(1_000)
    const { pg_stats: pgs } = JSON.parse(await obey(commands, { prefix: 'pg dump', dumpcontents: ['pgs'] })) as {
      readonly pg_stats: readonly { readonly stat_sum: { readonly num_objects: number } }[]
    }
    if (pgs.every(({ stat_sum: sum }) => sum.num_objects > 0)) break
  }
  expect((await load.stop()).faults).toEqual([])
}

async function doToReal(fault: CephFault): Promise<void> {
  if (fault.does === 'command') await obey(lab.ceph.commands, fault.command)
  else if (fault.does === 'start') {
    lab.ceph.start(fault.daemon)
    await lab.ceph.ready(fault.daemon)
  } else if (fault.does === 'kill') {
    const daemon = lab.ceph.daemon(fault.daemon)
    daemon?.signal('SIGKILL')
    await daemon?.ended
  } else await lab.ceph.daemon(fault.daemon)?.stop()
}

async function doToSimulated(fault: CephFault): Promise<void> {
  if (fault.does === 'command') {
    await obey(simulated.ceph.commands, fault.command)
    return
  }
  const key = { namespace: cephNamespace, name: `rook-ceph-${fault.daemon.replace('.', '-')}` }
  const replicas = fault.does === 'start' ? 1 : 0
  await simulated.api.patch(deployments, key, { type: 'merge', body: { spec: { replicas } } })
}

/** What it says once it says the same for a while. */
async function settledView(commands: CephCommands, pass: () => Promise<void>): Promise<CephView | undefined> {
  let last: CephView | undefined
  let same = 0
  for (let looks = 0; looks < 40 && same < 6; looks += 1) {
    await pass()
    const view = await lookAtCeph(commands, zones)
    same = view !== undefined && JSON.stringify(view) === JSON.stringify(last) ? same + 1 : 0
    last = view
  }
  return same < 6 ? undefined : last
}

const zonesDown = ({ osds }: CephView) =>
  Object.values(zones).filter((ids) => ids.some((id) => osds.some((text) => text.startsWith(`osd.${id} down`)))).length

it(
  `after each of ${count} random faults the simulated Ceph says of itself what the real one says (seed ${seed})`,
  async () => {
    const differing: unknown[] = []
    const done: string[] = []
    const faults = drawFaults(seededRandom(seed), count, zones)
    let isOfPlacement = false
    for (const fault of faults) {
      done.push(faultText(fault))
      lab.journal.tell('story', faultText(fault))
      await Promise.all([doToReal(fault), doToSimulated(fault)])
      // An OSD that stops or comes needs a moment until anything of it shows.
      await pause(2_500)
      await simulated.seconds(30)
      const real = await settledView(lab.ceph.commands, () => pause(500))
      const ours = await settledView(simulated.ceph.commands, () => simulated.seconds(2))
      lab.journal.tell('story', `real ${JSON.stringify(real)}`)
      lab.journal.tell('story', `simulated ${JSON.stringify(ours)}`)
      // Groups that cannot be whole may wait for copies without end, in both.
      if (real === undefined || ours === undefined) {
        if (real !== ours) differing.push({ after: [...done], isSettled: { real: !!real, simulated: !!ours } })
      } else {
        // A group that served from its last copy alone waits for that one also when the other zone is back.
        isOfPlacement = zonesDown(real) > (isOfPlacement ? 0 : 1)
        for (const key of Object.keys(real) as (keyof CephView)[])
          if ((!isOfPlacement || !ofOneZone.includes(key)) && JSON.stringify(real[key]) !== JSON.stringify(ours[key]))
            differing.push({ after: [...done], key, real: real[key], simulated: ours[key] })
      }
    }
    console.log(`${faults.length} faults on Ceph ${lab.ceph.version}, ${differing.length} differences`)
    expect(differing).toEqual([])
  },
  (count + 12) * 60_000,
)
