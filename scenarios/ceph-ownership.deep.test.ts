import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { namespace } from '@cofferdam/product/capabilities/ceph-drain/testing/ceph-fixture.ts'
import { dyingAfter } from '@cofferdam/product/operator/testing/dying-after.ts'
import { describe, expect, it } from 'vitest'
import { type BesideRook, openBesideRook } from './testing/beside-rook.ts'
import { watchHandOver } from './testing/hand-over-oracle.ts'

/** Runs an operator for a while that may die. */
async function operateFor({ operate, fixture }: BesideRook, seconds: number, api?: KubeApi): Promise<void> {
  const operator = operate(api)
  await fixture.seconds(seconds)
  const stopped = operator.stop()
  await fixture.seconds(11)
  await stopped
}

/** Hands over in the middle of a drain by an operator that dies after so many writes; another one finishes. */
async function dieInHandOver(writes: number, direction: 'adopt' | 'release'): Promise<boolean> {
  const stage = await openBesideRook()
  const { fixture } = stage
  if (direction === 'release') {
    await stage.adopt()
    await operateFor(stage, 30)
  }
  const first = stage.operate()
  await fixture.seconds(20)
  await fixture.cordon('node-x')
  expect(await fixture.evictOsd(0)).toBe('going')
  await fixture.seconds(80)
  const stopped = first.stop()
  await fixture.seconds(11)
  await stopped
  expect(await stage.noout()).toEqual(['x'])
  const oracle = watchHandOver({ api: fixture.api, namespace }, () => ['x'])
  const line = dyingAfter(fixture.api, writes)
  await (direction === 'adopt' ? stage.adopt() : stage.release())
  await operateFor(stage, 20, line.api)
  const last = stage.operate()
  await fixture.seconds(40)
  const blocks = ['rook-ceph-osd-zone-y', 'rook-ceph-osd-zone-z']
  const marks = (await stage.marks()).filter((name) => name.startsWith('rook-ceph-osd'))
  expect(marks).toEqual(direction === 'adopt' ? blocks.map((name) => `${name}*`) : blocks)
  expect(await fixture.evictOsd(2)).toBe('refused')
  await fixture.cordon('node-x', false)
  await fixture.seconds(240)
  expect(await stage.noout()).toEqual([])
  expect((await stage.marks()).filter((name) => name.startsWith('rook-ceph-osd'))).toEqual(
    direction === 'adopt' ? ['rook-ceph-osd*'] : ['rook-ceph-osd'],
  )
  await oracle.stop()
  expect(oracle.gaps).toEqual([])
  expect(fixture.failures).toEqual([])
  const ended = last.stop()
  await fixture.seconds(11)
  await ended
  await stage.close()
  return line.died()
}

describe('an operator that dies after any of its writes in the middle of a drain', () => {
  it.each(['adopt', 'release'] as const)(
    'while budgets are handed over (%s) leaves no OSD of another zone without a budget and no noout behind',
    async (direction) => {
      const deaths: boolean[] = []
      for (let writes = 0; writes < 14; writes += 1) {
        deaths.push(await dieInHandOver(writes, direction))
        if (deaths.at(-1) === false) break
      }
      expect(deaths.at(-1)).toBe(false)
      expect(deaths.length).toBeGreaterThan(3)
    },
  )
})
