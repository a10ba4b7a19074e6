import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { namespace, openUpdateStage, type UpdateStage } from './testing/osd-update-stage.ts'

let stage: UpdateStage
afterEach(() => stage.close())

const suffix = '.ec2.internal'
const next = 'v19.2.4'

async function openCalm(): Promise<void> {
  stage = await openUpdateStage({
    nodeSuffix: suffix,
    annotations: { 'cofferdam.io/update-max-in-parallel': '4' },
  })
  stage.operate()
  await stage.seconds(60)
}

async function nooutBuckets(): Promise<string[]> {
  const { out } = await stage.ceph.commands.run({ prefix: 'osd dump', format: 'json' })
  const { crush_node_flags: flags } = JSON.parse(out) as { crush_node_flags: Record<string, string[]> }
  return Object.keys(flags).filter((bucket) => flags[bucket]?.includes('noout'))
}

const scale = (osd: number, replicas: number) =>
  stage.api.patch(
    deployments,
    { namespace, name: `rook-ceph-osd-${osd}` },
    { type: 'merge', body: { spec: { replicas } } },
  )

function expectNoHarm(): void {
  expect({ violations: stage.oracle.violations, below: stage.oracle.below }).toEqual({ violations: [], below: [] })
}

describe('on a cluster whose node names are not the hostnames of its nodes', () => {
  it('an update leaves the OSDs of a cordoned node alone, goes on with all others, and comes back for them when the node is open', async () => {
    await openCalm()
    const node = `storage-1${suffix}`
    await stage.cordon(node)
    await stage.seconds(30)
    await stage.want(next)
    await stage.until('all others are updated', () => stage.oracle.started.length >= 10, 1_200)
    await stage.until('the storage is free', () => stage.holders().length === 0, 300)
    await stage.seconds(300)
    const old = stage.versionsByOsd().filter((line) => !line.endsWith(next))
    expect({ old, told: (await stage.told()).filter((line) => line.startsWith('Warning')) }).toEqual({
      old: ['0: v19.2.3', '1: v19.2.3'],
      told: [],
    })
    await stage.cordon(node, false)
    await stage.until('all are updated', () => stage.isUpdated(next), 600)
    expectNoHarm()
  }, 240_000)

  it('a drain with kubectl in the middle of an update ends, its host has noout while it is away, and the update goes on after it', async () => {
    await openCalm()
    const node = `storage-2${suffix}`
    await stage.want(next)
    await stage.until('some are on their way', () => stage.oracle.onTheWay().length > 0, 60)
    const drain = stage.drain(node)
    await stage.until('the drain is over', () => drain.isOver(), 900)
    await stage.until('noout is set for its host alone', async () => (await nooutBuckets()).join() === 'storage-2', 60)
    await stage.cordon(node, false)
    await stage.until('all are updated', () => stage.isUpdated(next), 1_200)
    await stage.until('noout is gone', async () => (await nooutBuckets()).length === 0, 300)
    expectNoHarm()
  }, 240_000)

  it('an OSD that its owner stopped on a schedulable node is no drain: no noout keeps its data from being made whole elsewhere', async () => {
    await openCalm()
    await scale(4, 0)
    const seen = new Set<string>()
    for (let at = 0; at < 60; at += 1) {
      await stage.seconds(2)
      for (const bucket of await nooutBuckets()) seen.add(bucket)
    }
    expect([...seen]).toEqual([])
    await scale(4, 1)
    await stage.until('it is back', () => stage.ceph.controls.truth().serving.has(4), 120)
    expect(stage.oracle.below).toEqual([])
  }, 240_000)
})
