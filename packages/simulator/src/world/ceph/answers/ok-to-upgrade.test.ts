import { afterEach, describe, expect, it } from 'vitest'
import { type CephFixture, openCeph } from '../testing/ceph-fixture.ts'

const version = '20.2.5-100-gdeadbeef'
let fixture: CephFixture
afterEach(() => fixture.stop())

async function openTentacle(): Promise<void> {
  fixture = await openCeph()
  fixture.ceph.controls.tentacleOkToStop(true)
}

async function told(bucket: string, given: { readonly version?: string; readonly max?: number } = {}) {
  const { max, version: wanted = version } = given
  const { code, out, err } = await fixture.run('osd ok-to-upgrade', {
    crush_bucket: bucket,
    ceph_version: wanted,
    ...(max !== undefined && { max }),
  })
  return out === '' ? [code, err] : [code, (JSON.parse(out) as { osds_ok_to_upgrade: number[] }).osds_ok_to_upgrade]
}

describe('osd ok-to-upgrade of the simulated Ceph', () => {
  it('is not there before 20.2.2', async () => {
    fixture = await openCeph()
    expect(await told('node-1')).toEqual([22, 'command not known'])
  })

  it('lets a host go, fewest placement groups first, and no more of it than asked for', async () => {
    await openTentacle()
    const [code, osds] = await told('node-1')
    expect([code, (osds as number[]).toSorted()]).toEqual([0, [0, 1]])
    expect(await told('node-1', { max: 1 })).toEqual([0, (osds as number[]).slice(0, 1)])
  })

  it('refuses what the real one refuses: a wider bucket, one that is not there, a version as it is published', async () => {
    await openTentacle()
    const wide = 'crush bucket "zone-a" of type "zone" is incompatible for upgradability check'
    expect(await told('zone-a')).toEqual([22, wide])
    expect(await told('nowhere')).toEqual([2, '"nowhere" does not exist'])
    expect((await told('node-1', { version: '20.2.4' }))[0]).toBe(22)
  })

  it('beside a host that is down lets nobody go', async () => {
    await openTentacle()
    await fixture.emptyNode('node-1')
    await fixture.seconds(10)
    expect(await told('node-2')).toEqual([16, []])
  })
})
