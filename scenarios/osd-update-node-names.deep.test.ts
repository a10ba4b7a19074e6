import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { namespace, openUpdateFixture, type UpdateFixture } from './testing/osd-update-fixture.ts'

let fixture: UpdateFixture
afterEach(() => fixture.close())

const suffix = '.ec2.internal'
const next = 'v19.2.4'

async function openCalm(): Promise<void> {
  fixture = await openUpdateFixture({
    nodeSuffix: suffix,
    annotations: { 'cofferdam.io/update-max-in-parallel': '4' },
  })
  fixture.operate()
  await fixture.seconds(60)
}

async function nooutBuckets(): Promise<string[]> {
  const { out } = await fixture.ceph.commands.run({ prefix: 'osd dump', format: 'json' })
  const { crush_node_flags: flags } = JSON.parse(out) as { crush_node_flags: Record<string, string[]> }
  return Object.keys(flags).filter((bucket) => flags[bucket]?.includes('noout'))
}

const scale = (osd: number, replicas: number) =>
  fixture.api.patch(
    deployments,
    { namespace, name: `rook-ceph-osd-${osd}` },
    { type: 'merge', body: { spec: { replicas } } },
  )

function expectNoHarm(): void {
  expect({ violations: fixture.oracle.violations, below: fixture.oracle.below }).toEqual({ violations: [], below: [] })
}

describe('on a cluster whose node names are not the hostnames of its nodes', () => {
  it('an update leaves the OSDs of a cordoned node alone, goes on with all others, and comes back for them when the node is open', async () => {
    await openCalm()
    const node = `storage-1${suffix}`
    await fixture.cordon(node)
    await fixture.seconds(30)
    await fixture.want(next)
    await fixture.until('all others are updated', () => fixture.oracle.started.length >= 10, 1_200)
    await fixture.until('the storage is free', () => fixture.holders().length === 0, 300)
    await fixture.seconds(300)
    const old = fixture.versionsByOsd().filter((line) => !line.endsWith(next))
    expect({ old, told: (await fixture.told()).filter((line) => line.startsWith('Warning')) }).toEqual({
      old: ['0: v19.2.3', '1: v19.2.3'],
      told: [],
    })
    await fixture.cordon(node, false)
    await fixture.until('all are updated', () => fixture.isUpdated(next), 600)
    expectNoHarm()
  })

  it('a drain with kubectl in the middle of an update ends, its host has noout while it is away, and the update goes on after it', async () => {
    await openCalm()
    const node = `storage-2${suffix}`
    await fixture.want(next)
    await fixture.until('some are on their way', () => fixture.oracle.onTheWay().length > 0, 60)
    const drain = fixture.drain(node)
    await fixture.until('the drain is over', () => drain.isOver(), 900)
    await fixture.until(
      'noout is set for its host alone',
      async () => (await nooutBuckets()).join() === 'storage-2',
      60,
    )
    await fixture.cordon(node, false)
    await fixture.until('all are updated', () => fixture.isUpdated(next), 1_200)
    await fixture.until('noout is gone', async () => (await nooutBuckets()).length === 0, 300)
    expectNoHarm()
  })

  it('an OSD that its owner stopped on a schedulable node is no drain: no noout keeps its data from being made whole elsewhere', async () => {
    await openCalm()
    await scale(4, 0)
    const seen = new Set<string>()
    for (let at = 0; at < 60; at += 1) {
      await fixture.seconds(2)
      for (const bucket of await nooutBuckets()) seen.add(bucket)
    }
    expect([...seen]).toEqual([])
    await scale(4, 1)
    await fixture.until('it is back', () => fixture.ceph.controls.truth().serving.has(4), 120)
    expect(fixture.oracle.below).toEqual([])
  })
})
