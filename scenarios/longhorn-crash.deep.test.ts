import { longhornNamespace, longhornNodes, longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import {
  restoresAnnotation,
  wantedPolicyAnnotation,
} from '@cofferdam/product/capabilities/longhorn-drain/domain/drain-settings.ts'
import { askedAnnotation } from '@cofferdam/product/capabilities/longhorn-drain/domain/guidance-marks.ts'
import { drainPolicyLabel, drainPolicySetting } from '@cofferdam/product/capabilities/longhorn-drain/domain/policy.ts'
import { describe, expect, it } from 'vitest'
import { stepOf } from '../test/property-runs.ts'
import type { StagedOperator } from './testing/lock-fixture.ts'
import { type LonghornFixture, openLonghornFixture } from './testing/longhorn-fixture.ts'

const mib = 1024 ** 2
const data = { filled: 0.25, sizeBytes: 256 * mib }

interface Story {
  readonly policy: string
  readonly wanted: string
  /** Of volume db. */
  readonly own?: string
  /** Volumes that must leave. Default: all. */
  readonly leaving?: readonly string[]
}

/** What Longhorn does only while the policy is in force, and what it is asked for by disks. */
const stories: readonly (readonly [string, Story])[] = [
  ['the setting lets all go, and all is to move', { policy: 'always-allow', wanted: 'block-for-eviction' }],
  [
    'the setting moves nothing, last copies and one volume are to move',
    {
      policy: 'block-if-contains-last-replica',
      wanted: 'block-for-eviction-if-contains-last-replica',
      own: 'block-for-eviction',
      // The disk that is asked for has a copy of idle too, which may move or stay.
      leaving: ['db', 'solo'],
    },
  ],
]

/** A drain and an uncordon, during which something befalls the operator after so many writes. */
async function tell(story: Story, befall: (operator: StagedOperator) => void, isReplaced = false) {
  const { policy, wanted, own } = story
  const labels = own === undefined ? {} : { labels: { [drainPolicyLabel]: own } }
  const fixture = await openLonghornFixture(
    {
      volumes: [
        { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], ...data, ...labels },
        { name: 'solo', numberOfReplicas: 1, placedOn: ['node-1'], ...data },
        { name: 'idle', numberOfReplicas: 2, placedOn: ['node-1', 'node-3'], ...data },
      ],
      timings: { rebuildBytesPerSecond: 16 * mib },
      blocks: { count: 16, bytes: 128 },
    },
    { policy, annotations: { [wantedPolicyAnnotation]: wanted } },
  )
  try {
    const operator = fixture.operate({ isReplaced, isGuard: true })
    await fixture.use('db', 'node-2', 'node-3')
    await fixture.use('solo', 'node-2', 'node-3')
    await fixture.seconds(5)
    befall(operator)
    const drain = fixture.drainAgain('node-1')
    let wasFrozen = false
    const thaw = async () => {
      if (!operator.isFrozen()) return
      wasFrozen = true
      await fixture.seconds(20)
      operator.thaw()
    }
    await fixture.until(
      'the drain is over',
      async () => {
        await thaw()
        return drain.isOver()
      },
      400,
    )
    await fixture.cordon('node-1', false)
    await fixture.seconds(10)
    await thaw()
    await fixture.until(
      'all is quiet',
      () => fixture.guarded().length === 3 && fixture.volume('idle').status?.state === 'detached',
      90,
    )
    await fixture.seconds(15)
    await thaw()
    return {
      wasHit: operator.isDead() || wasFrozen,
      outcome: {
        copies: ['db', 'solo', 'idle'].map((volume) => fixture.placesOf(volume).length),
        leftBehind: (story.leaving ?? ['db', 'solo', 'idle']).filter((name) =>
          fixture.placesOf(name).includes('node-1'),
        ),
        isIntact: fixture.isIntact('db', 'solo', 'idle'),
        flags: fixture.flags(),
        guarded: fixture.guarded(),
        asked: await leftOf(fixture),
        isPolicyBack: fixture.policyInForce() === policy,
        wasDegraded: fixture.oracle.history.some(({ robustness }) => robustness === 'degraded'),
        violations: fixture.oracle.violations,
      },
    }
  } catch (error) {
    return { wasHit: true, outcome: { broke: (error as Error).message } }
  } finally {
    await fixture.close()
  }
}

/** What is left of what was asked for the drain, by the object that has it. */
async function leftOf({ api }: LonghornFixture): Promise<string[]> {
  const { items } = await api.list(longhornNodes, { namespace: longhornNamespace })
  const setting = await api.get(longhornSettings, { namespace: longhornNamespace, name: drainPolicySetting })
  const marked = items.filter(
    ({ metadata, spec }) =>
      metadata.annotations?.[askedAnnotation] !== undefined ||
      Object.values(spec?.disks ?? {}).some(
        ({ evictionRequested, allowScheduling }) => evictionRequested === true || allowScheduling === false,
      ),
  )
  const names = marked.map(({ metadata }) => metadata.name)
  return setting.metadata.annotations?.[restoresAnnotation] === undefined ? names : [...names, drainPolicySetting]
}

const whole = {
  copies: [2, 1, 2],
  leftBehind: [],
  isIntact: true,
  flags: [],
  guarded: ['node-1', 'node-2', 'node-3'],
  asked: [],
  isPolicyBack: true,
  wasDegraded: false,
  violations: [],
}

/** After each write the operator is killed or stands still, in turns. */
const step = stepOf(2)

describe.each(stories)('%s: a drain comes to the same end', (_, story) => {
  it('when the operator is killed, after whichever write, and another comes ten seconds later', async () => {
    const differing: unknown[] = []
    let writes = 0
    for (; writes < 80; writes += step) {
      const { wasHit, outcome } = await tell(story, (operator) => operator.killAfter(writes), true)
      if (JSON.stringify(outcome) !== JSON.stringify(whole)) differing.push({ writes, outcome })
      if (!wasHit) break
    }
    expect(differing).toEqual([])
    expect(writes).toBeGreaterThan(5)
  })

  it('when the operator stands still for twenty seconds after whichever write, and then goes on with what it knew', async () => {
    const differing: unknown[] = []
    let writes = step - 1
    for (; writes < 80; writes += step) {
      const { wasHit, outcome } = await tell(story, (operator) => operator.freezeAfter(writes))
      if (JSON.stringify(outcome) !== JSON.stringify(whole)) differing.push({ writes, outcome })
      if (!wasHit) break
    }
    expect(differing).toEqual([])
    expect(writes).toBeGreaterThan(3)
  })
})
