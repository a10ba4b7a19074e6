import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { plan, samples } from '../cli/testing/plan-from-files.ts'
import { type CephFile, type CephState, cephFiles, parseCeph, parseCluster, reasons } from './domain.ts'

function answersOf(sample: string): Record<CephFile, unknown> {
  const files = Object.keys(cephFiles).map((file) => [
    file,
    JSON.parse(readFileSync(join(samples, sample, file), 'utf8')),
  ])
  return Object.fromEntries(files) as Record<CephFile, unknown>
}

function cephOf(sample: string): CephState {
  const ceph = parseCeph(answersOf(sample))
  if (!ceph.known) throw new Error(ceph.why)
  return ceph.value
}

describe('a Ceph cluster that was saved', () => {
  it.each(['healthy', 'osd-0-down', 'host-down'])(
    'is planned as the command plans it, %s: two plans would mean that one of them is wrong',
    async (sample) => {
      const { out } = await plan('--from', join(samples, sample), '-o', 'json')
      const { rounds, lowerBound, blocked } = JSON.parse(out) as Record<string, unknown>
      expect(cephOf(sample).planRounds()).toEqual({ rounds, lowerBound, blocked })
    },
  )

  it('lets one host stop while all is clean, and no second one: copies of placement groups are on both', () => {
    const ceph = cephOf('healthy')
    const hosts = ceph.mayStopDomains({ type: 'host' })
    expect(hosts.map(({ verdict }) => verdict.may)).toEqual(hosts.map(() => 'yes'))
    expect(ceph.mayStop(hosts.slice(0, 2).flatMap(({ osds }) => osds))).toMatchObject({
      may: 'no',
      troubles: expect.arrayContaining([{ pg: expect.any(String), pool: 'rep', left: 1, floor: 2 }]),
    })
  })

  it('keeps what the reserve asks for: a copy more is a host less', () => {
    const [first] = cephOf('healthy').mayStopDomains({ type: 'host', reserve: 1 })
    expect(first?.verdict.may).toBe('no')
  })

  it('keeps the reserve of each question, though one without was asked before: its yes would leave no copy in reserve', () => {
    const ceph = cephOf('healthy')
    const osds = ceph.mayStopDomains({ type: 'host' })[0]?.osds ?? []
    expect([0, 1, 0].map((reserve) => ceph.mayStop(osds, { reserve }).may)).toEqual(['yes', 'no', 'yes'])
  })

  it('is judged with what is down already: the next host stays', () => {
    const ceph = cephOf('host-down')
    const down = ceph.osds.filter(({ isUp }) => !isUp).map(({ id }) => id)
    expect(ceph.mayStop(down)).toEqual({ may: 'yes' })
    expect(ceph.planRounds().blocked.length).toBe(ceph.osds.length - down.length)
  })

  it('plans no more at once than is asked for, and refuses a limit that is none', () => {
    const ceph = cephOf('healthy')
    expect(Math.max(...ceph.planRounds({ maxInParallel: 1 }).rounds.map(({ length }) => length))).toBe(1)
    expect(() => ceph.planRounds({ maxInParallel: 0 })).toThrow(RangeError)
  })

  it('is not known from answers of two moments: a plan from them could stop what is needed', () => {
    const answers = { ...answersOf('healthy'), 'osd-tree.json': answersOf('host-down')['osd-tree.json'] }
    expect(parseCeph(answers)).toEqual({
      known: false,
      why: expect.stringContaining('osd-tree.json (ceph osd tree) does not fit'),
    })
    expect(parseCeph({ ...answers, 'osd-dump.json': [] })).toMatchObject({ known: false })
  })
})

describe('a cluster that was saved', () => {
  it.each([undefined, null, [], {}, { kind: 'ClusterSnapshot', takenAt: 'then', kinds: [] }])(
    'is not known from %j: nothing is planned on it',
    (snapshot) => {
      expect(parseCluster(snapshot)).toEqual({ known: false, why: 'it is not what cofferdam snapshot prints' })
    },
  )
})

it('has the words of every reason that its answers can name', () => {
  expect(reasons['TooFewCopies']).toMatch(/fewer copies/)
})
