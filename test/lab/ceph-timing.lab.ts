import { setTimeout as pause } from 'node:timers/promises'
import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import {
  type CephFixture,
  cephNamespace,
  openCeph,
  smallDescription,
} from '@cofferdam/simulator/world/ceph/testing/ceph-fixture.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CephLab, openLabCeph } from './ceph/open-lab-ceph.ts'
import { groupsOn, type ReportTimes, type SightPorts, timeReports } from './ceph-timing/report-times.ts'
import { printTimes, type TimedDeed } from './ceph-timing/times-table.ts'

/** With the periods that upstream has, which the other suites shorten. */
const description = smallDescription({
  mons: ['a', 'b', 'c'],
  timings: { downOutIntervalMs: 24 * 3_600_000, heartbeatGraceMs: 20_000, statsPeriodMs: 5_000, mgrTickMs: 2_000 },
})
/** Of every zone one. */
const osds = [0, 5, 9]
const sightMs = 100
/** Until all has been said of what was done before. */
const restSeconds = 8

type Side = 'real' | 'simulated'
type Deed = 'stopped' | 'killed' | 'frozen' | 'started'

let lab: CephLab
let simulated: CephFixture
let ports: Record<Side, SightPorts>
beforeAll(async () => {
  lab = await openLabCeph('ceph-timing', description)
  simulated = await openCeph({ description })
  ports = {
    real: { commands: lab.ceph.commands, now: () => performance.now(), pass: () => pause(sightMs) },
    simulated: {
      commands: simulated.ceph.commands,
      now: () => simulated.clock.now(),
      pass: () => simulated.clock.advance(sightMs),
    },
  }
})
afterAll(async () => {
  simulated?.stop()
  await lab?.close()
})

const perform: Record<Side, (osd: number, deed: Deed, wasFrozen: boolean) => Promise<void>> = {
  async real(osd, deed, wasFrozen) {
    const name = `osd.${osd}` as const
    const daemon = lab.ceph.daemon(name)
    if (deed === 'started' && !wasFrozen) lab.ceph.start(name)
    else if (deed === 'started') daemon?.signal('SIGCONT')
    else if (deed === 'stopped') void daemon?.stop()
    else daemon?.signal(deed === 'killed' ? 'SIGKILL' : 'SIGSTOP')
  },
  async simulated(osd, deed) {
    const key = { namespace: cephNamespace, name: `rook-ceph-osd-${osd}` }
    const replicas = deed === 'started' ? 1 : 0
    await simulated.api.patch(deployments, key, { type: 'merge', body: { spec: { replicas } } })
  },
}
const rest: Record<Side, () => Promise<unknown>> = {
  real: () => pause(restSeconds * 1_000),
  simulated: () => simulated.seconds(restSeconds),
}

async function timeAll(side: Side, deeds: readonly Exclude<Deed, 'started'>[]): Promise<TimedDeed[]> {
  const timed: TimedDeed[] = []
  for (const osd of osds) {
    const groups = await groupsOn(ports[side], osd)
    for (const down of deeds) {
      for (const deed of [down, 'started'] as const) {
        const change = {
          osd,
          toUp: deed === 'started',
          groups,
          deed: () => perform[side](osd, deed, down === 'frozen'),
        }
        const times: ReportTimes = await timeReports(ports[side], change)
        lab.journal.tell('story', `${side}: osd.${osd} ${deed} ${JSON.stringify(times)}`)
        timed.push({ side, deed, times })
        await rest[side]()
      }
    }
  }
  return timed
}

it(
  'what is in the map at once is in the reports only later, for some groups before others, in the simulated Ceph as in the real one',
  async () => {
    const timed = [
      ...(await timeAll('real', ['stopped', 'killed', 'frozen'])),
      ...(await timeAll('simulated', ['stopped'])),
    ]
    console.log(`Ceph ${lab.ceph.version}\n${printTimes(timed)}`)
    for (const side of ['real', 'simulated'] as const) {
      const own = timed.filter((one) => one.side === side).map(({ times }) => times)
      const facts = {
        // Whoever decides by reports alone decides on the past.
        allCameAfterTheMap: own.every(({ reportMs }) => (reportMs[0] ?? 0) > 0),
        // So it is not enough that one of them is new.
        someWereMixed: own.some(({ mixed }) => mixed > 0),
        primariesThatWereGoneShowedAsStale: own.some(({ states }) => states.includes('stale+active+clean')),
      }
      expect({ side, ...facts }).toEqual({
        side,
        allCameAfterTheMap: true,
        someWereMixed: true,
        primariesThatWereGoneShowedAsStale: true,
      })
    }
    // A report that was seen here and cannot be there would be a lie that nobody has tried.
    const passing = (side: Side) =>
      new Set(timed.filter((one) => one.side === side).flatMap(({ times }) => times.states.flatMap(passingPart)))
    expect([...passing('simulated')].filter((state) => !possible.includes(state))).toEqual([])
    expect([...passing('real')].filter((state) => !possible.includes(state))).toEqual([])
  },
  20 * 60_000,
)

/** What groups pass through when an OSD comes or goes. */
const possible = ['stale', 'peering', 'activating', 'remapped', 'recovering', 'recovery_wait']
const lasting = ['active', 'clean', 'undersized', 'degraded']
const passingPart = (state: string) => state.split('+').filter((flag) => !lasting.includes(flag))
