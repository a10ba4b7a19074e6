import { afterEach, describe, expect, it } from 'vitest'
import { smallCluster } from '../../ceph-drain/testing/ceph-fixture.ts'
import { newImage, type OsdUpdateFixture, openOsdUpdateFixture } from '../testing/osd-update-fixture.ts'

let fixture: OsdUpdateFixture
afterEach(() => fixture.close())

/** Pods that take their time, so that an update is under way for minutes. */
const unhurried = smallCluster.replace('readyAfterSeconds: 1,', 'readyAfterSeconds: 10,')

async function openUnderWay(): Promise<void> {
  fixture = await openOsdUpdateFixture(unhurried)
  fixture.operate({ controllers: ['osd-update'] })
  await fixture.seconds(90)
  await fixture.wantImage(newImage)
  expect(await fixture.until(async () => (await fixture.images()).includes(newImage), 60)).toBe(true)
}

const isUpdated = async () => (await fixture.images()).join() === newImage
const command = async (prefix: string, given: Record<string, string>) => {
  const { code, err } = await fixture.ceph.commands.run({ prefix, ...given })
  expect([code, err]).toEqual([0, expect.any(String)])
}

describe('what changes in Ceph in the middle of an update counts for what starts next', () => {
  it('a pool that wants all its copies: who is on the way comes back, nobody else starts, and it is told why', async () => {
    await openUnderWay()
    await command('osd pool set', { pool: 'data', var: 'min_size', val: '3' })
    await fixture.watch(60)
    const written = fixture.written.filter((write) => write.startsWith('update deployments/')).length
    await fixture.watch(120)
    expect(fixture.written.filter((write) => write.startsWith('update deployments/'))).toHaveLength(written)
    expect(await fixture.told()).toContain('Warning OsdUpdateBlocked')
    const [first] = JSON.parse((await fixture.recordData())['blocked'] ?? '[]') as { why: string }[]
    expect(first?.why).toContain('of pool data has 3 whole copies up and must keep 3')

    await command('osd pool set', { pool: 'data', var: 'min_size', val: '2' })
    expect(await fixture.until(isUpdated, 600)).toBe(true)
  })

  it('a pool that is made meanwhile is kept above its floor as the others are', async () => {
    await openUnderWay()
    await command('osd pool create', { pool: 'late', pg_num: '16' })
    expect(await fixture.until(isUpdated, 600)).toBe(true)
    await fixture.watch(30)
    expect(fixture.broken).toEqual([])
  })
})
