import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { ClusterLog } from '@cofferdam/simulator/world/ceph/cluster-log.ts'
import { describe, expect, it } from 'vitest'
import type { CephCommands } from '../ceph-commands.ts'
import { CephLogWatch } from './ceph-log-watch.ts'

const key = 'rook-ceph/my-cluster'

function open(more: Partial<CephCommands> = {}) {
  const clock = new VirtualClock()
  const began = clock.now()
  const log = new ClusterLog({ mayTell: () => true })
  const hints: string[] = []
  const changes: (boolean | undefined)[] = []
  const tries: number[] = []
  const watch = new CephLogWatch({
    clock,
    onHint: (_, { osds, isRepeated }) => {
      hints.push(`${clock.now() - began} ms${isRepeated ? ' again' : ''} ${osds.join()}`.trim())
    },
    onChange: () => changes.push(watch.stateOf(key)?.isFollowed),
  })
  const commands: CephCommands = {
    run: () => Promise.reject(new Error('nobody asks')),
    followLog(follow) {
      tries.push((clock.now() - began) / 1_000)
      return log.follow(follow)
    },
    ...more,
  }
  watch.follow(key, commands)
  return { clock, log, hints, changes, tries, watch, commands }
}

describe('a line about an OSD', () => {
  it('is a hint at once, and again a moment later: it may come before the map that it is about', async () => {
    const { clock, log, hints } = open()
    await clock.advance(10_000)
    hints.length = 0
    log.say('osd.3 failed (2 reporters)')
    await clock.advance(10_000)
    expect(hints).toEqual(['10000 ms 3', '10250 ms again 3', '11250 ms again 3'])
  })

  it('that comes while one is followed up is a hint within half a second', async () => {
    const { clock, log, hints } = open()
    await clock.advance(10_000)
    hints.length = 0
    log.say('osd.3 failed')
    await clock.advance(300)
    log.say('osd.4 failed')
    await clock.advance(10_000)
    expect(hints).toEqual(['10000 ms 3', '10250 ms again 3', '10750 ms 3,4', '11750 ms again 3,4'])
  })

  it('in a storm of a thousand a second gives no more than two hints a second, and no end of them after the last', async () => {
    const { clock, log, hints } = open()
    hints.length = 0
    for (let line = 0; line < 10_000; line += 1) {
      log.say(`osd.${line} failed`)
      await clock.advance(1)
    }
    await clock.advance(60_000)
    expect(hints.length).toBeLessThanOrEqual(23)
  })
})

describe('a log that breaks off', () => {
  it('is followed again after a pause that grows while it cannot be, and never shorter for opening just to break', async () => {
    const { clock, log, tries, changes } = open()
    await clock.advance(120_000)
    log.breakOff({ isRefused: true })
    await clock.advance(1_000_000)
    expect(tries.slice(0, 6)).toEqual([0, 121, 123, 127, 135, 151])
    expect((tries.at(-1) as number) - (tries.at(-2) as number)).toBe(300)
    expect(changes).toEqual([true, false])
  })

  it('and is back has Ceph asked once: nobody knows what it said meanwhile', async () => {
    const { clock, log, hints, changes } = open()
    await clock.advance(120_000)
    hints.length = 0
    log.breakOff()
    await clock.advance(10_000)
    expect([hints, changes]).toEqual([['121000 ms'], [true]])
  })

  it('is not followed any more when its cluster is gone', async () => {
    const { clock, log, watch, tries } = open()
    watch.forget(key)
    expect([log.followerCount, watch.stateOf(key)]).toEqual([0, undefined])
    await clock.advance(600_000)
    expect(tries).toEqual([0])
  })
})

describe('a way to Ceph', () => {
  it('that has no log is told, and tried no more', () => {
    const { watch } = open({ followLog: undefined as never })
    expect(watch.stateOf(key)).toEqual({ isFollowed: false, why: 'this way to Ceph has no log' })
  })

  it('that is another than before is followed instead of it, and the same one only once', () => {
    const { watch, log, commands } = open()
    watch.follow(key, commands)
    expect(log.followerCount).toBe(1)
    watch.follow(key, { ...commands })
    expect(log.followerCount).toBe(1)
    watch.follow(key, undefined)
    expect(log.followerCount).toBe(0)
  })
})

it('commands that are made anew for each question open no second log: each would have Ceph asked, and so on without end', async () => {
  const { clock, hints, tries, watch, commands } = open()
  await clock.advance(10_000)
  for (let question = 0; question < 100; question += 1) watch.follow(key, { ...commands })
  await clock.advance(10_000)
  expect([hints.length, tries]).toEqual([1, [0]])
})
