import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it } from 'vitest'
import type { CephMap } from '../../safety/ceph-map.ts'
import { buildSafetyIndex } from '../../safety/safety-index.ts'
import { exampleMap } from '../../safety/testing/example-map.ts'
import { known, type Observed, unknown } from '../../shared/observed.ts'
import { type AcceptedAge, CephReader } from './ceph-reader.ts'

const key = 'rook-ceph/my-cluster'
const commands = { run: () => Promise.reject(new Error('nobody asks')) }
const readingMs = 200

function open() {
  const clock = new VirtualClock()
  const skew = { ms: 0 }
  const asked: string[] = []
  const map = exampleMap()
  const says: { map: Observed<CephMap>; up: Observed<number>; pulseMs: number; indexes: number } = {
    map: known(map),
    up: known(map.osds.filter(({ isUp }) => isUp).length),
    pulseMs: 0,
    indexes: 0,
  }
  const after = async <T>(answer: T): Promise<T> => {
    await sleep(clock, readingMs)
    return answer
  }
  const reader = new CephReader({
    clock: { now: () => clock.now() + skew.ms, after: (ms, call) => clock.after(ms, call) },
    observeMap: () => {
      asked.push(`map at ${clock.now() - began}`)
      return after(says.map)
    },
    observePulse: async () => {
      asked.push(`status at ${clock.now() - began}`)
      const { map: said, up } = says
      if (says.pulseMs > 0) await sleep(clock, says.pulseMs)
      if (!said.known) return said
      return up.known ? known({ epoch: said.value.epoch, pgStates: { 'active+clean': 0 }, upOsds: up.value }) : up
    },
    buildIndex(...of) {
      says.indexes += 1
      return buildSafetyIndex(...of)
    },
  })
  const began = clock.now()
  const begin = (asker: string, accepts: AcceptedAge, signal = new AbortController().signal) =>
    reader.poll({ key, asker, accepts, ceph: commands, isHealthyState: () => true, signal })
  return {
    clock,
    skew,
    reader,
    hearsOfLoss: () => reader.hearsOfLoss({ key, ceph: commands, signal: new AbortController().signal }),
    asked,
    says,
    begin,
    since: (ms: number | undefined) => (ms === undefined ? undefined : ms - began),
    async look(asker: string, accepts: AcceptedAge) {
      const answer = begin(asker, accepts)
      await clock.advance(readingMs)
      return answer
    },
  }
}

const unsettled = { pace: 'unsettled' } as const
const anew = { pace: 'anew' } as const
const busy = { pace: 'busy' } as const
const calm = { pace: 'calm', calmMs: 60_000 } as const

describe('a map that was read for one', () => {
  it('is there for the other within the second, and for nobody twice who has to see Ceph catch up', async () => {
    const { asked, look } = open()
    const first = await look('ceph-drain', unsettled)
    const second = await look('osd-update', unsettled)
    expect([second.map, asked]).toEqual([first.map, ['map at 0']])
    await look('osd-update', unsettled)
    expect(asked).toEqual(['map at 0', 'map at 400'])
  })

  it('is there for nobody when the clock was turned back: seed 2032 drained a node by a floor that a pool no longer had', async () => {
    for (const accepts of [calm, busy, unsettled]) {
      const { asked, look, skew } = open()
      await look('osd-update', accepts)
      skew.ms = -3_600_000
      await look('ceph-drain', accepts)
      expect(asked).toHaveLength(2)
    }
  })

  it('is there for the other while it is being read: Ceph is not asked for it twice at once', async () => {
    const { asked, begin, clock } = open()
    const both = [begin('ceph-drain', busy), begin('osd-update', unsettled)]
    await clock.advance(readingMs)
    const [one, other] = await Promise.all(both)
    expect([one?.map === other?.map || one?.map, asked]).toEqual([true, ['map at 0']])
  })

  it('is not there for one that needs a reading that begins now: it would not tell of the OSD it has just stopped', async () => {
    const { asked, begin, look, clock } = open()
    await look('ceph-drain', unsettled)
    const waiting = begin('ceph-drain', unsettled)
    await clock.advance(50)
    const restarted = begin('osd-update', anew)
    await clock.advance(readingMs)
    await Promise.all([waiting, restarted])
    expect(asked).toEqual(['map at 0', 'map at 200', 'map at 250'])
  })

  it('is there for nobody whose cluster was disturbed after the reading began, not even half read', async () => {
    const { asked, begin, clock, reader } = open()
    const before = begin('ceph-drain', busy)
    reader.disturb(key)
    const after = begin('osd-update', unsettled)
    await clock.advance(readingMs)
    await Promise.all([before, after])
    expect(asked).toEqual(['map at 0', 'map at 0'])
  })

  it('is not there after a second: until then several causes share it', async () => {
    const { asked, look, clock } = open()
    await look('ceph-drain', unsettled)
    await clock.advance(1_000)
    await look('osd-update', unsettled)
    expect(asked).toEqual(['map at 0', 'map at 1200'])
  })

  it('is confirmed by a short answer for who is busy, and for who is calm only after its time', async () => {
    const { asked, look, clock } = open()
    await look('osd-update', unsettled)
    await clock.advance(2_000)
    await look('ceph-drain', calm)
    expect(asked).toEqual(['map at 0'])
    await look('ceph-drain', busy)
    expect(asked).toEqual(['map at 0', 'status at 2400'])
  })
})

describe('a map of a new epoch', () => {
  it('is read whole once more when groups have reported by it: osd.2 was back in its zone, and the old places stood for ever', async () => {
    const { asked, look, clock, says } = open()
    says.map = known(exampleMap({ pgs: [{ pg: '1.0', acting: [0, 2, 4], reported: 9 }] }))
    await look('ceph-drain', calm)
    for (let minute = 0; minute < 3; minute += 1) {
      await clock.advance(60_000)
      await look('ceph-drain', calm)
    }
    expect(asked).toEqual(['map at 0', 'map at 60200', 'status at 120400', 'status at 180600'])
  })

  it('is not read again where every group has reported by it', async () => {
    const { asked, look, clock, says } = open()
    says.map = known(exampleMap({ pgs: [{ pg: '1.0', acting: [0, 2, 4] }] }))
    await look('ceph-drain', calm)
    await clock.advance(60_000)
    await look('ceph-drain', calm)
    expect(asked).toEqual(['map at 0', 'status at 60200'])
  })

  it('is read whole once more by who is busy, and not each second until then', async () => {
    const { asked, look, clock, says } = open()
    await look('ceph-drain', busy)
    await clock.advance(60_000)
    asked.length = 0
    says.map = known(exampleMap({ epoch: 11, pgs: [{ pg: '1.0', acting: [0, 2, 4], reported: 10 }] }))
    for (let second = 0; second < 20; second += 1) {
      await look('ceph-drain', busy)
      await clock.advance(1_000)
    }
    expect(asked.filter((each) => each.startsWith('map'))).toEqual(['map at 60200', 'map at 75800'])
  })
})

describe('a reading that was broken off by whoever began it', () => {
  it('is begun again for the other who waits for it, and is no silence of Ceph', async () => {
    const { asked, begin, clock, reader } = open()
    const leaving = new AbortController()
    const first = begin('osd-update', unsettled, leaving.signal).catch(() => 'gone')
    const second = begin('ceph-drain', unsettled)
    leaving.abort()
    await clock.advance(readingMs)
    await clock.advance(readingMs)
    expect([await first, (await second).map.known]).toEqual(['gone', true])
    expect([asked, reader.silentSince(key)]).toEqual([['map at 0', 'map at 200'], undefined])
  })
})

describe('a Ceph that does not answer', () => {
  it('is not asked again within a second, by nobody, and all of the map is read when it answers', async () => {
    const { asked, look, says, clock, reader } = open()
    await look('ceph-drain', unsettled)
    await clock.advance(2_000)
    const { map } = says
    says.map = unknown('timed out')
    expect((await look('ceph-drain', busy)).map).toEqual(unknown('timed out'))
    expect((await look('osd-update', anew)).map).toEqual(unknown('timed out'))
    expect(asked).toEqual(['map at 0', 'status at 2200'])
    says.map = map
    await clock.advance(1_000)
    await look('ceph-drain', calm)
    expect([asked.at(-1), reader.silentSince(key)]).toEqual(['map at 3600', undefined])
  })
})

describe('when Ceph was asked', () => {
  it('is told of the very answer: what was asked for another meanwhile makes an old map no younger', async () => {
    const { begin, look, clock, since, says } = open()
    const first = begin('ceph-drain', unsettled)
    await clock.advance(100)
    const later = begin('osd-update', anew)
    await clock.advance(100)
    expect(since((await first).askedAtMs)).toBe(0)
    await clock.advance(100)
    expect(since((await later).askedAtMs)).toBe(100)
    await clock.advance(2_000)
    says.map = unknown('timed out')
    expect(since((await look('ceph-drain', unsettled)).askedAtMs)).toBe(100)
  })
})

describe('a safety index', () => {
  it('is built once for a map, for whatever settings it is judged, and not again for one that says the same', async () => {
    const { look, reader, says, clock } = open()
    const judge = ({ map }: { map: Observed<CephMap> }, failureDomainOverride?: string) =>
      map.known &&
      reader.judge({
        map: map.value,
        failureDomainOverride,
        pattern: undefined,
        isHealthyState: () => true,
        goneOsds: [],
        maxDomains: 2,
        wantedDomains: ({ domains }) => domains.map(({ domain }) => domain),
      })
    const map = exampleMap({ pgs: [{ pg: '1.0', acting: [0, 2, 4] }] })
    says.map = known(map)
    judge(await look('ceph-drain', unsettled))
    judge(await look('osd-update', unsettled), 'root')
    await clock.advance(5_000)
    says.map = known({ ...map })
    judge(await look('ceph-drain', unsettled))
    expect(says.indexes).toBe(1)
    says.map = known({ ...map, epoch: 11 })
    judge(await look('ceph-drain', unsettled))
    expect(says.indexes).toBe(2)
  })
})

describe('a hint that OSDs may have gone', () => {
  it('has the mons asked how many are up, once: placement groups are heard from a mgr, which may have gone with them', async () => {
    const { asked, says, reader, clock, look, hearsOfLoss } = open()
    await look('ceph-drain', unsettled)
    expect([await hearsOfLoss(), asked]).toEqual([false, ['map at 0']])
    await clock.advance(1_000)
    reader.hint(key)
    says.up = known(0)
    expect([await hearsOfLoss(), await hearsOfLoss(), asked]).toEqual([true, false, ['map at 0', 'status at 1200']])
  })

  it('is not answered by a question of somebody else from before it: that one would have opened the budgets again', async () => {
    const { says, reader, clock, look, begin, hearsOfLoss, asked } = open()
    await look('ceph-drain', unsettled)
    await clock.advance(2_000)
    says.pulseMs = 100
    const before = begin('osd-update', busy)
    await clock.advance(50)
    reader.hint(key)
    says.pulseMs = 10
    says.up = known(0)
    if (says.map.known) says.map = known({ ...says.map.value, epoch: says.map.value.epoch + 1 })
    const loss = hearsOfLoss()
    await clock.advance(200)
    await before
    expect(await loss).toBe(true)
    const next = begin('ceph-drain', busy)
    await clock.advance(500)
    await next
    expect(asked.slice(1)).toEqual(['status at 2200', 'status at 2250', 'map at 2450'])
  })

  it.each([
    ['all are up as before', (up: number) => known(up)],
    ['one more came up', (up: number) => known(up + 1)],
    ['the mons do not answer: all of Ceph is read, and that tells it', () => unknown('no answer')],
  ])('is no loss where %s', async (_, answer) => {
    const { says, reader, clock, look, hearsOfLoss } = open()
    await look('ceph-drain', unsettled)
    await clock.advance(1_000)
    reader.hint(key)
    says.up = says.up.known ? answer(says.up.value) : says.up
    expect(await hearsOfLoss()).toBe(false)
  })
})

it('a slow answer that comes after a later one replaces it for nobody: it is from before the outage', async () => {
  const clock = new VirtualClock()
  const healthy = exampleMap()
  const broken: CephMap = {
    ...healthy,
    epoch: healthy.epoch + 1,
    osds: healthy.osds.map((osd) => ({ ...osd, isUp: false })),
  }
  const answers: readonly [number, CephMap][] = [
    [3_000, healthy],
    [100, broken],
  ]
  let asked = 0
  const reader = new CephReader({
    clock,
    observeMap: async () => {
      const [ms, map] = answers[asked++] as [number, CephMap]
      await sleep(clock, ms)
      return known(map)
    },
    observePulse: async () => unknown('not asked here'),
  })
  const { signal } = new AbortController()
  const ask = () =>
    reader.poll({ key, asker: 'ceph-drain', accepts: anew, ceph: commands, isHealthyState: () => true, signal })
  const readings = Promise.all([ask(), ask()])
  await clock.advance(4_000)
  await readings
  expect(reader.last(key).map).toEqual(known(broken))
})
