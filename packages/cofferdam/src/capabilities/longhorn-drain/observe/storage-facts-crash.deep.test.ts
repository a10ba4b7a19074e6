import { expect, it } from 'vitest'
import { openLine } from '../../../../../../scenarios/testing/cut-line.ts'
import { heldKeys } from '../../../ledger/store/testing/ledger-fixture.ts'
import {
  type LonghornDisruptionFixture,
  openLonghornDisruptions,
  wholeCopies,
} from '../testing/longhorn-disruption-fixture.ts'

const pair = { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }
const slowly = { rebuildBytesPerSecond: 8 * 1024 ** 2 }

/** Reboots whatever may go, once, until both requests are done. Tells the fewest whole copies and how both looked at each turn. */
async function rebootBoth(fixture: LonghornDisruptionFixture, eachSecond: () => Promise<void> = async () => {}) {
  const { seconds, tell, phaseOf, world } = fixture
  const told: string[] = []
  const rebooted = new Set<string>()
  let fewest = 2
  for (let second = 0; second < 900; second += 1) {
    await seconds(1)
    await eachSecond()
    fewest = Math.min(fewest, (await wholeCopies(fixture)).length)
    const phases = [await phaseOf('one'), await phaseOf('two')]
    const turn = phases.join(' ')
    if (told.at(-1) !== turn) told.push(turn)
    for (const [at, name] of ['one', 'two'].entries()) {
      if (phases[at] !== 'Drained' || rebooted.has(name)) continue
      rebooted.add(name)
      world.kubelet.reboot(`node-${at + 1}`, 45)
    }
    if (turn === 'Completed Completed') return { fewest, told }
  }
  throw new Error(`${await tell('one')} | ${await tell('two')}`)
}

it.each([4, 9, 13, 22])(
  'killed after write %i, another process carries on: the nodes still go one after the other, and a whole copy is always there',
  async (writes) => {
    const fixture = await openLonghornDisruptions({ volumes: [pair], timings: slowly })
    const { controls, request, seconds, close } = fixture
    await controls.attach('db', 'node-3')
    const line = openLine()
    line.cutAfter(writes)
    fixture.operate({ api: line.api(fixture.api) })
    await seconds(30)
    await request('one', 'node-1')
    await request('two', 'node-2')
    let hasTakenOver = false
    const { fewest, told } = await rebootBoth(fixture, async () => {
      if (!line.isCut || hasTakenOver) return
      hasTakenOver = true
      await fixture.stopOperators()
      fixture.operate()
    })
    expect({ hasTakenOver, fewest, last: told.at(-1), entries: await heldKeys(fixture.api) }).toEqual({
      hasTakenOver: true,
      fewest: 1,
      last: 'Completed Completed',
      entries: [],
    })
    const isAway = (phase: string | undefined) => phase === 'Draining' || phase === 'Drained' || phase === 'Recovering'
    expect(told.filter((turn) => turn.split(' ').every(isAway))).toEqual([])
    expect(controls.verify('db').isIntact).toBe(true)
    await close()
  },
)
