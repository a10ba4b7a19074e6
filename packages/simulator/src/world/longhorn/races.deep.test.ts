import { longhornNodes, longhornReplicas, longhornVolumes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { events, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { describe, expect, it } from 'vitest'
import type { LonghornDescription } from './longhorn-description.ts'
import { openLonghorn } from './testing/longhorn-fixture.ts'

const names = ['one', 'two', 'three']

function roughDescription(): LonghornDescription {
  return {
    volumes: names.map((name, index) => ({ name, numberOfReplicas: index + 1, filled: 0.25 })),
    drawnOrder: true,
    csi: false,
    conflictRate: 0.1,
    cacheLagMs: { volume: 400, node: 700, attachment: 200, eviction: 900, 'instance-manager': 300 },
    timings: { rebuildBytesPerSecond: 32 * 1024 ** 2 },
  }
}

/** Cordons, evictions of replicas and cancellations drawn from the seed; when rough, instance managers and power go without asking. */
async function live(seed: number, turns: number, isRough = false) {
  const fixture = await openLonghorn(roughDescription(), { seed, nodeCount: 5 })
  const { controls, cordon, requestEviction, evictInstanceManagers, volume, seconds, list, failures } = fixture
  const { kubelet } = fixture.world
  const drawn = seededRandom(seed * 7 + 1)
  const draw = (count: number) => (drawn.next() * count) | 0
  const trace: string[] = []
  for (const [index, name] of names.entries()) await controls.attach(name, `node-${index + 1}`)
  await seconds(10)
  for (let turn = 0; turn < turns; turn += 1) {
    const node = `node-${1 + draw(5)}`
    const on = draw(3) > 0
    await cordon(node, on)
    await requestEviction(node, on)
    if (isRough && draw(4) === 0) {
      if (kubelet.isOn(node)) kubelet.powerOff(node)
      else kubelet.powerOn(node)
    }
    if (isRough && on && draw(2) === 0) await evictInstanceManagers(node)
    const name = names[draw(3)] as string
    if (draw(4) === 0) await controls.attach(name, `node-${1 + draw(5)}`)
    await seconds(1 + draw(20))
    for (const one of names) {
      if ((await volume(one)).status?.state === 'attached') {
        try {
          controls.writeData(one, { blocks: 2 })
        } catch {
          trace.push(`${one} took no write`)
        }
      }
      const { isIntact, healthy } = controls.verify(one)
      if (!isRough || healthy.length > 0) expect([one, isIntact]).toEqual([one, true])
    }
    trace.push((await list(longhornReplicas)).map(({ metadata, spec }) => `${metadata.name}@${spec?.nodeID}`).join(' '))
  }
  for (let node = 1; node <= 5; node += 1) {
    kubelet.powerOn(`node-${node}`)
    await cordon(`node-${node}`, false)
    await requestEviction(`node-${node}`, false)
  }
  await seconds(900)
  const ends = (await list(longhornVolumes)).map(({ metadata, status }) => [
    metadata.name,
    status?.state,
    status?.robustness,
  ])
  for (const name of names) expect(controls.verify(name).isIntact).toBe(true)
  fixture.stop()
  return { trace, ends, failures }
}

describe('late caches, refused writes and drawn orders', () => {
  it.each([1, 2, 3, 4, 5])(
    'seed %i: no copy that is called healthy differs from what was written, and all are well in the end',
    async (seed) => {
      const { ends, failures } = await live(seed, 15)
      expect(ends).toEqual([
        ['one', 'attached', 'healthy'],
        ['three', 'attached', 'healthy'],
        ['two', 'attached', 'healthy'],
      ])
      expect(failures).toEqual([])
    },
  )

  it.each([11, 12, 13, 14, 15, 16])(
    'seed %i: instance managers and power that are taken away cost no data: all of it is there when their nodes are back',
    async (seed) => {
      const { ends, failures } = await live(seed, 15, true)
      expect(ends.map(([name, , robustness]) => [name, robustness])).toEqual([
        ['one', 'healthy'],
        ['three', 'healthy'],
        ['two', 'healthy'],
      ])
      expect(failures).toEqual([])
    },
  )

  it('the same seed gives the same objects, whatever Longhorn does by itself', async () => {
    const scenario = async () => {
      const fixture = await openLonghorn(
        {
          ...roughDescription(),
          csi: true,
          ownDrainHandling: true,
          settings: { 'node-drain-policy': 'block-for-eviction', 'replica-auto-balance': 'best-effort' },
        },
        { seed: 21, nodeCount: 4 },
      )
      for (const name of names) await fixture.controls.attach(name, 'node-2')
      await fixture.seconds(10)
      await fixture.cordon('node-1')
      await fixture.seconds(90)
      await fixture.cordon('node-1', false)
      await fixture.seconds(60)
      const kinds = [longhornReplicas, longhornVolumes, longhornNodes, podDisruptionBudgets, pods, events] as const
      const objects = await Promise.all(kinds.map((kind) => fixture.list<KubeObject>(kind)))
      fixture.stop()
      return objects
    }
    expect(await scenario()).toEqual(await scenario())
  })

  it('the same seed gives the same history', async () => {
    const first = await live(9, 8)
    expect(await live(9, 8)).toEqual(first)
  })
})
