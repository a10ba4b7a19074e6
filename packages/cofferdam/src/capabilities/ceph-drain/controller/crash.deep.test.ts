import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { dyingAfter } from '../../../operator/testing/dying-after.ts'
import { type CephStage, namespace, openCephStage } from '../testing/ceph-stage.ts'

const draining = [
  'rook-ceph-osd-zone-y: 0 of topology-location-zone=y',
  'rook-ceph-osd-zone-z: 0 of topology-location-zone=z',
]

/** Labels of OSD pods outside the given zone that no budget of ours selects. */
async function unprotected({ api }: CephStage, openZone: string | undefined): Promise<string[]> {
  const [budgets, osds] = await Promise.all([
    api.list(podDisruptionBudgets, { namespace }),
    api.list(pods, { namespace, labelSelector: 'app=rook-ceph-osd' }),
  ])
  return osds.items
    .filter(({ metadata }) => metadata.labels?.['topology-location-zone'] !== openZone)
    .filter(({ metadata }) => !budgets.items.some(({ spec }) => isSelected(spec.selector ?? {}, metadata.labels)))
    .map(({ metadata }) => metadata.labels?.['osd'] as string)
}

/** Watches every commit of a budget: at no moment may an OSD of a zone that is not open be without one. */
function watchProtection(stage: CephStage, openZone: string | undefined) {
  const gaps: string[][] = []
  const stop = new AbortController()
  const watching = (async () => {
    for await (const event of stage.api.watch(podDisruptionBudgets, { namespace, signal: stop.signal })) {
      if (event.type === 'BOOKMARK') continue
      const gap = await unprotected(stage, openZone)
      if (gap.length > 0) gaps.push(gap)
    }
  })()
  return {
    gaps,
    async stop() {
      stop.abort()
      await watching
    },
  }
}

describe('an operator that dies after any of its writes', () => {
  it('on the way into a drain leaves every other zone held, and the next one brings it to the same end', async () => {
    const ends: string[] = []
    for (let writes = 0; writes < 12; writes += 1) {
      const stage = await openCephStage()
      const calm = stage.operate()
      await stage.seconds(90)
      const handedOver = calm.stop()
      await stage.seconds(11)
      await handedOver
      const guard = watchProtection(stage, 'x')
      const line = dyingAfter(stage.api, writes)
      await stage.cordon('node-x')
      const mortal = stage.operate({ api: line.api })
      await stage.seconds(2)
      expect(await stage.evictOsd(0)).toBe('going')
      await stage.seconds(5)
      const dead = mortal.stop()
      await stage.seconds(11)
      await dead
      expect(await unprotected(stage, 'x')).toEqual([])

      stage.operate()
      await stage.seconds(20)
      expect(await stage.budgets()).toEqual(draining)
      expect((await stage.record()).data).toMatchObject({
        'draining-failure-domain': 'x',
        'cofferdam.io_own-noout': 'x',
      })
      await guard.stop()
      expect(guard.gaps).toEqual([])
      await stage.close()
      ends.push(line.died() ? 'died' : 'lived')
      if (!line.died()) break
    }
    expect(ends.at(-1)).toBe('lived')
    expect(ends.length).toBeGreaterThan(4)
  }, 120_000)

  it('on the way out of a drain leaves no zone unheld and no noout behind', async () => {
    const ends: string[] = []
    for (let writes = 0; writes < 14; writes += 1) {
      const stage = await openCephStage()
      const first = stage.operate()
      await stage.seconds(90)
      await stage.cordon('node-x')
      await stage.evictOsd(0)
      await stage.seconds(20)
      expect(await stage.budgets()).toEqual(draining)
      const handedOver = first.stop()
      await stage.seconds(11)
      await handedOver
      const guard = watchProtection(stage, 'x')
      const line = dyingAfter(stage.api, writes)
      const mortal = stage.operate({ api: line.api })
      await stage.cordon('node-x', false)
      await stage.seconds(120)
      const dead = mortal.stop()
      await stage.seconds(11)
      await dead

      stage.operate()
      await stage.seconds(60)
      expect(await stage.budgets()).toEqual(['rook-ceph-osd: 1 of all'])
      const { out } = await stage.ceph.commands.run({ prefix: 'osd dump' })
      expect((JSON.parse(out) as { crush_node_flags: object }).crush_node_flags).toEqual({})
      expect((await stage.record()).data?.['cofferdam.io_own-noout']).toBe('')
      await guard.stop()
      expect(guard.gaps).toEqual([])
      await stage.close()
      ends.push(line.died() ? 'died' : 'lived')
      if (!line.died()) break
    }
    expect(ends.at(-1)).toBe('lived')
    expect(ends.length).toBeGreaterThan(4)
  }, 120_000)
})
