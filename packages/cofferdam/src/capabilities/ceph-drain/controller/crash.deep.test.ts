import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { dyingAfter } from '../../../operator/testing/dying-after.ts'
import { type CephFixture, namespace, openCephFixture } from '../testing/ceph-fixture.ts'

const draining = [
  'rook-ceph-osd-zone-y: 0 of topology-location-zone=y',
  'rook-ceph-osd-zone-z: 0 of topology-location-zone=z',
]

/** Labels of OSD pods outside the given zone that no budget of ours selects. */
async function unprotected({ api }: CephFixture, openZone: string | undefined): Promise<string[]> {
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
function watchProtection(fixture: CephFixture, openZone: string | undefined) {
  const gaps: string[][] = []
  const stop = new AbortController()
  const watching = (async () => {
    for await (const event of fixture.api.watch(podDisruptionBudgets, { namespace, signal: stop.signal })) {
      if (event.type === 'BOOKMARK') continue
      const gap = await unprotected(fixture, openZone)
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
    for (let writes = 0; writes < 20; writes += 1) {
      const fixture = await openCephFixture()
      const calm = fixture.operate()
      await fixture.seconds(90)
      const handedOver = calm.stop()
      await fixture.seconds(11)
      await handedOver
      const guard = watchProtection(fixture, 'x')
      const line = dyingAfter(fixture.api, writes)
      await fixture.cordon('node-x')
      const mortal = fixture.operate({ api: line.api })
      await fixture.seconds(2)
      expect(await fixture.evictOsd(0)).toBe('going')
      await fixture.seconds(5)
      const dead = mortal.stop()
      await fixture.seconds(11)
      await dead
      expect(await unprotected(fixture, 'x')).toEqual([])

      fixture.operate()
      await fixture.seconds(20)
      expect(await fixture.budgets()).toEqual(draining)
      expect((await fixture.record()).data).toMatchObject({
        'draining-failure-domain': 'x',
        'cofferdam.io_own-noout': 'x',
      })
      await guard.stop()
      expect(guard.gaps).toEqual([])
      await fixture.close()
      ends.push(line.died() ? 'died' : 'lived')
      if (!line.died()) break
    }
    expect(ends.at(-1)).toBe('lived')
    expect(ends.length).toBeGreaterThan(4)
  })

  it('on the way out of a drain leaves no zone unheld and no noout behind', async () => {
    const ends: string[] = []
    for (let writes = 0; writes < 20; writes += 1) {
      const fixture = await openCephFixture()
      const first = fixture.operate()
      await fixture.seconds(90)
      await fixture.cordon('node-x')
      await fixture.evictOsd(0)
      await fixture.seconds(20)
      expect(await fixture.budgets()).toEqual(draining)
      const handedOver = first.stop()
      await fixture.seconds(11)
      await handedOver
      const guard = watchProtection(fixture, 'x')
      const line = dyingAfter(fixture.api, writes)
      const mortal = fixture.operate({ api: line.api })
      await fixture.cordon('node-x', false)
      await fixture.seconds(120)
      const dead = mortal.stop()
      await fixture.seconds(11)
      await dead

      fixture.operate()
      await fixture.seconds(60)
      expect(await fixture.budgets()).toEqual(['rook-ceph-osd: 1 of all'])
      const { out } = await fixture.ceph.commands.run({ prefix: 'osd dump' })
      expect((JSON.parse(out) as { crush_node_flags: object }).crush_node_flags).toEqual({})
      expect((await fixture.record()).data?.['cofferdam.io_own-noout']).toBe('')
      await guard.stop()
      expect(guard.gaps).toEqual([])
      await fixture.close()
      ends.push(line.died() ? 'died' : 'lived')
      if (!line.died()) break
    }
    expect(ends.at(-1)).toBe('lived')
    expect(ends.length).toBeGreaterThan(4)
  })
})
