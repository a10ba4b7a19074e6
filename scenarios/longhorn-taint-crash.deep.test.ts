import { longhornNamespace, longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { startEmptying } from './testing/drainer.ts'
import type { StagedOperator } from './testing/lock-fixture.ts'
import { openLonghornFixture } from './testing/longhorn-fixture.ts'

const mib = 1024 ** 2
const data = { filled: 0.25, sizeBytes: 256 * mib }

/** Karpenter taints node-1, evicts what is on it, and takes the taint away; something befalls the operator after so many writes. */
async function tell(befall: (operator: StagedOperator) => void) {
  const fixture = await openLonghornFixture(
    {
      ownDrainHandling: true,
      volumes: [
        { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], ...data },
        { name: 'solo', numberOfReplicas: 1, placedOn: ['node-1'], ...data },
      ],
      timings: { rebuildBytesPerSecond: 16 * mib },
      blocks: { count: 16, bytes: 128 },
    },
    {
      policy: 'block-if-contains-last-replica',
      annotations: { 'cofferdam.io/manage': 'guide', 'cofferdam.io/wanted-policy': 'block-for-eviction' },
    },
  )
  const change = (spec: object) =>
    fixture.api.patch(nodes, { name: 'node-1' }, { type: 'merge', body: { spec: { ...spec } } })
  const nodeOne = () => fixture.views.of(nodes).get('node-1')
  try {
    const operator = fixture.operate({ isReplaced: true })
    await fixture.use('db', 'node-2', 'node-3')
    await fixture.use('solo', 'node-1', 'node-2')
    await fixture.seconds(5)
    befall(operator)
    await change({ taints: [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }] })
    const emptying = startEmptying({ api: fixture.api, clock: fixture.clock, tell: () => {} }, 'node-1')
    await fixture.until('the evicting client is done', emptying.isOver, 600)
    await emptying.ended
    const leftBehind = ['db', 'solo'].filter((volume) => fixture.placesOf(volume).includes('node-1'))
    await change({ taints: null })
    await fixture.until('node-1 is open', () => nodeOne()?.spec?.unschedulable !== true, 120)
    await fixture.until('all is quiet', () => fixture.guarded().length === 3 && fixture.flags().length === 0, 120)
    await fixture.seconds(30)
    return {
      wasHit: operator.isDead(),
      outcome: {
        leftBehind,
        copies: ['db', 'solo'].map((volume) => fixture.placesOf(volume).length),
        isIntact: fixture.isIntact('db', 'solo'),
        isCordoned: nodeOne()?.spec?.unschedulable === true,
        mark: nodeOne()?.metadata.annotations?.['cofferdam.io/cordoned-by'],
        policy: fixture.views.of(longhornSettings).get(`${longhornNamespace}/node-drain-policy`)?.value,
        wasDegraded: fixture.oracle.history.some(({ robustness }) => robustness === 'degraded'),
      },
    }
  } catch (error) {
    return { wasHit: true, outcome: { broke: (error as Error).message } }
  } finally {
    await fixture.close()
  }
}

const whole = {
  leftBehind: [],
  copies: [2, 1],
  isIntact: true,
  isCordoned: false,
  mark: undefined,
  policy: 'block-if-contains-last-replica',
  wasDegraded: false,
}

describe('an operator that dies while Karpenter empties a node that Longhorn does not see as closed', () => {
  it('at any write: the next one continues, and lifts the cordon that the first had set', async () => {
    const broken: unknown[] = []
    let deaths = 0
    for (let writes = 0; writes < 80; writes += 1) {
      const { wasHit, outcome } = await tell((operator) => operator.killAfter(writes))
      if (JSON.stringify(outcome) !== JSON.stringify(whole)) broken.push({ writes, ...outcome })
      if (!wasHit) break
      deaths += 1
    }
    expect(broken).toEqual([])
    expect(deaths).toBeGreaterThan(5)
  })
})
