import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../harness/virtual-clock.ts'
import { createTimers } from '../ceph/timers.ts'
import { DataPlane } from './data-plane.ts'
import type { VolumeProcesses } from './volume-processes.ts'

const bytes = Uint8Array.of(1, 2, 3)

function open({ isDelta = false, processes }: { isDelta?: boolean; processes?: VolumeProcesses } = {}) {
  const clock = new VirtualClock()
  const changes: string[] = []
  const data = new DataPlane({
    timers: createTimers(clock),
    random: seededRandom(1),
    shape: { count: 10, blockBytes: 16 },
    ioTimeoutMs: 1_000,
    isDelta: () => isDelta,
    rate: () => 100,
    bytesPerBlock: () => 100,
    onChange: (volume) => changes.push(volume),
    ...(processes === undefined ? {} : { processes }),
  })
  data.addVolume('v', 1)
  for (const number of [1, 2, 3]) {
    data.addStore({ replica: `r${number}`, volume: 'v', node: `n${number}`, diskUuid: `d${number}` }, number < 3)
  }
  const start = (...replicas: string[]) =>
    data.startEngine({
      volume: 'v',
      node: 'n1',
      instanceManager: 'im-n1',
      replicas: replicas.map((name) => ({ name, instanceManager: `im-${name.replace('r', 'n')}` })),
    })
  const modes = () => Object.fromEntries(data.modesOf('v'))
  return { clock, data, start, modes, changes }
}

describe('an engine starts', () => {
  it('without a copy that missed a write, whatever its object says', () => {
    const { data, start, modes } = open()
    start('r1')
    data.write('v', 0, bytes)
    data.stopEngine('v')
    start('r1', 'r2')
    expect(modes()).toEqual({ r1: 'RW', r2: 'ERR' })
    expect(data.verify('v', ['r2'])).toEqual([{ replica: 'r2', node: 'n2', mode: 'ERR', wrongBlocks: [0] }])
  })

  it('without a copy that is half made or on a broken disk', () => {
    const { data, start, modes } = open()
    data.breakDisk('d2', true)
    start('r1', 'r2', 'r3')
    expect(modes()).toEqual({ r1: 'RW', r2: 'ERR', r3: 'ERR' })
  })

  it('and ends at once when no copy is good', () => {
    const { data, start } = open()
    start('r3')
    expect(data.engineOf('v')).toBeUndefined()
    expect(() => data.write('v', 0, bytes)).toThrow('volume "v" is not attached')
  })
})

describe('a rebuild', () => {
  it('copies block by block and makes the copy RW when all of them are there, with writes in between', async () => {
    const { clock, data, start, modes } = open()
    start('r1')
    data.startRebuild('v', 'r3', 'im-n3')
    await clock.advance(5_000)
    expect([modes(), data.rebuildOf('v')?.progress]).toEqual([{ r1: 'RW', r3: 'WO' }, 50])
    data.write('v', 2, bytes)
    data.write('v', 9, bytes)
    await clock.advance(3_999)
    expect(modes()).toEqual({ r1: 'RW', r3: 'WO' })
    await clock.advance(1)
    expect(modes()).toEqual({ r1: 'RW', r3: 'RW' })
    expect(data.verify('v', ['r1', 'r3']).map(({ wrongBlocks }) => wrongBlocks)).toEqual([[], []])
  })

  it('of a copy that was away copies only what changed, where deltas are on', async () => {
    const { clock, data, start, modes } = open({ isDelta: true })
    start('r1')
    data.write('v', 4, bytes)
    data.startRebuild('v', 'r2', 'im-n2')
    await clock.advance(1_000)
    expect(modes()).toEqual({ r1: 'RW', r2: 'RW' })
    expect(data.verify('v', ['r2'])[0]?.wrongBlocks).toEqual([])
  })

  it('ends with its last source, and the target is not taken for whole', async () => {
    const { clock, data, start } = open()
    start('r1')
    data.startRebuild('v', 'r3', 'im-n3')
    await clock.advance(5_000)
    data.failReplica('r1')
    await clock.advance(60_000)
    expect(data.engineOf('v')).toBeUndefined()
    expect([data.hasCrashed('r1'), data.hasCrashed('r3')]).toEqual([true, true])
    expect(data.newestOf(['r1', 'r3'])).toEqual(['r1'])
  })
})

describe('an instance manager is lost', () => {
  it('with it its replicas fail and its engines end, while copies elsewhere stay good', () => {
    const { data, start, modes } = open()
    start('r1', 'r2')
    data.loseInstanceManager('im-n2')
    expect(modes()).toEqual({ r1: 'RW', r2: 'ERR' })
    data.removeFromEngine('v', 'r2')
    data.loseInstanceManager('im-n1')
    expect(data.engineOf('v')).toBeUndefined()
    expect(data.newestOf(['r1', 'r2'])).toEqual(['r1', 'r2'])
  })
})

describe('where processes stand behind', () => {
  function openWithProcesses() {
    const told: string[] = []
    const end: { resolve: () => void; reject: (error: Error) => void } = { resolve() {}, reject() {} }
    const ended = new Promise<void>((resolve, reject) => Object.assign(end, { resolve, reject }))
    const processes: VolumeProcesses = {
      startEngine: (volume, replicas) =>
        told.push(`start ${volume} over ${replicas.map(({ replica }) => replica).join()}`),
      stopEngine: (volume) => told.push(`stop ${volume}`),
      rebuild: (_, { replica, node }) => {
        told.push(`rebuild ${replica} on ${node}`)
        return ended
      },
      stopReplica: (replica) => told.push(`stop ${replica}`),
      dropReplica: (replica) => told.push(`drop ${replica}`),
    }
    const opened = open({ processes })
    opened.start('r1')
    opened.data.startRebuild('v', 'r3', 'im-n3')
    return { ...opened, told, end }
  }

  it('a copy is RW only when theirs is, and they are told of a move in its order', async () => {
    const { clock, data, modes, told, end } = openWithProcesses()
    await clock.advance(60_000)
    expect(modes()).toEqual({ r1: 'RW', r3: 'WO' })
    end.resolve()
    await clock.advance(1)
    expect(modes()).toEqual({ r1: 'RW', r3: 'RW' })
    data.dropStore('r1')
    data.stopEngine('v')
    expect(told).toEqual(['start v over r1', 'rebuild r3 on n3', 'drop r1', 'stop r1', 'stop v', 'stop r3'])
  })

  it('a copy fails with theirs, though every block is here', async () => {
    const { clock, data, modes, end } = openWithProcesses()
    end.reject(new Error('no room'))
    await clock.advance(60_000)
    expect([modes(), data.hasCrashed('r3')]).toEqual([{ r1: 'RW', r3: 'ERR' }, true])
  })

  it('a rebuild of theirs that ends after the engine makes no copy whole', async () => {
    const { clock, data, end } = openWithProcesses()
    await clock.advance(60_000)
    data.stopEngine('v')
    end.resolve()
    await clock.advance(1)
    expect(data.storeOf('r3')?.isWhole).toBe(false)
  })
})
