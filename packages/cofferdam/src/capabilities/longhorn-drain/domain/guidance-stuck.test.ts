import { describe, expect, it } from 'vitest'
import { known } from '../../../shared/observed.ts'
import { decideLonghornDrain } from './decide.ts'
import { explainLonghornStuck, observeLingering } from './guidance-stuck.ts'
import type { LonghornDrainSettings } from './snapshot.ts'
import { type Fixture, longhornFixture } from './testing/longhorn-fixture.ts'

const cordoned = { isCordoned: true }
const gone = { kubernetes: 'absent' } as const
const three = { db: { copies: { n1: 'healthy', n2: 'healthy', n3: 'healthy' } as const } }
const observed = { mode: 'observe' } as const

interface Scene extends Fixture {
  readonly settings?: Partial<LonghornDrainSettings>
}

function look({ settings = observed, ...fixture }: Scene, nowMs: number) {
  const seen = longhornFixture(fixture)
  const snapshot = { ...seen, nowMs, settings: { ...seen.settings, ...settings } }
  return { snapshot, decision: decideLonghornDrain(snapshot) }
}

/** After so many seconds of the same sight; undefined: seen for the first time, by somebody who remembers nothing. */
function stuck(scene: Scene, seconds: number | undefined): readonly string[] {
  const first = look(scene, 0)
  const later = look(scene, (seconds ?? 0) * 1000)
  const since = observeLingering(
    observeLingering(new Map(), first.snapshot, first.decision),
    later.snapshot,
    later.decision,
  )
  const found = explainLonghornStuck(later.snapshot, later.decision, seconds === undefined ? undefined : since)
  return found.map(({ node, object }) => `${node}: ${object}`)
}

describe('a node that nothing holds', () => {
  const lost = { nodes: { n1: cordoned, n2: {}, n3: gone }, volumes: three }
  const scenarios: Record<string, [Scene, number | undefined, readonly string[]]> = {
    'is given a minute': [lost, 59, []],
    'is stuck on a copy whose Kubernetes node is gone': [lost, 60, ['n1: replica/db-n3']],
    'is stuck on it for all who can see it, though they do not know since when': [
      lost,
      undefined,
      ['n1: replica/db-n3'],
    ],
    'is stuck by policies that Longhorn does not know': [
      {
        nodes: { n1: cordoned, n2: {} },
        volumes: { db: { copies: { n1: 'healthy' }, policy: 'always-allow' } },
      },
      undefined,
      ['n1: replica/db-n1'],
    ],
    'is stuck by a policy in force that nobody wants': [
      {
        nodes: { n1: cordoned, n2: {} },
        volumes: { db: { copies: { n1: 'healthy' } } },
        settings: { mode: 'guide', policy: known('always-allow') },
      },
      60,
      ['n1: replica/db-n1'],
    ],
    'is not called stuck at first sight by a policy that the guide may be about to change': [
      {
        nodes: { n1: cordoned, n2: {} },
        volumes: { db: { copies: { n1: 'healthy' } } },
        settings: { mode: 'hold', policy: known('always-allow') },
      },
      undefined,
      [],
    ],
    'is stuck at first sight where another client had the last word: who asks why would be told to wait for ever (short seed 705253)':
      [
        {
          nodes: { n1: cordoned, n2: {} },
          volumes: { db: { copies: { n1: 'healthy' } } },
          settings: { mode: 'hold', policy: known('always-allow'), isYielded: true },
        },
        undefined,
        ['n1: replica/db-n1'],
      ],
    'is stuck for reasons of its own when nothing explains it': [
      { nodes: { n1: cordoned, n2: {} } },
      60,
      ['n1: poddisruptionbudget/im-n1'],
    ],
    'is not called stuck for unseen reasons by somebody who does not know since when': [
      { nodes: { n1: cordoned, n2: {} } },
      undefined,
      [],
    ],
    'is not stuck when its budget is gone': [{ nodes: { n1: { ...cordoned, hasBudget: false }, n2: {} } }, 60, []],
    'is not stuck while it takes pods': [{ nodes: { n1: {}, n2: {}, n3: gone }, volumes: three }, 60, []],
    'is not stuck on copies of a volume that is not on it': [
      { nodes: { n1: cordoned, n2: {}, n3: gone }, volumes: { db: { copies: { n2: 'healthy', n3: 'healthy' } } } },
      60,
      ['n1: poddisruptionbudget/im-n1'],
    ],
  }
  for (const [name, [scene, seconds, expected]] of Object.entries(scenarios)) {
    it(name, () => {
      expect(stuck(scene, seconds)).toEqual(expected)
    })
  }

  it('that something holds again and frees again gets a new minute', () => {
    const free = look(lost, 0)
    const held = look({ ...lost, volumes: { db: { copies: { n1: 'healthy' } } } }, 50_000)
    const again = look(lost, 70_000)
    let since = observeLingering(new Map(), free.snapshot, free.decision)
    since = observeLingering(since, held.snapshot, held.decision)
    expect(observeLingering(since, again.snapshot, again.decision)).toEqual(new Map([['n1', 70_000]]))
  })

  it('is freed by a command for the namespace where Longhorn is: in another it would find no such replica', () => {
    const { snapshot, decision } = look(lost, 0)
    const [found] = explainLonghornStuck({ ...snapshot, namespace: 'storage' }, decision)
    expect(found?.wayOut).toContain('kubectl -n storage delete replicas.longhorn.io db-n3')
  })

  it('is explained with the replica that Longhorn stumbles over, and with the way out', () => {
    const { snapshot, decision } = look(lost, 0)
    expect(explainLonghornStuck(snapshot, decision)).toEqual([
      {
        node: 'n1',
        object: 'replica/db-n3',
        reason: 'LonghornStuck',
        explanation:
          'Nothing holds node n1, but Longhorn cannot see that: replica db-n3 of volume db is on node n3, which Kubernetes no longer has, and Longhorn stops checking there.',
        wayOut:
          'Delete replica db-n3 (kubectl -n longhorn-system delete replicas.longhorn.io db-n3), or node n3 in Longhorn if it does not come back.',
      },
    ])
  })
})

it('a node that was not seen to linger before is given its minute', () => {
  const { snapshot, decision } = look({ nodes: { n1: cordoned, n2: {}, n3: gone }, volumes: three }, 3_600_000)
  expect(explainLonghornStuck(snapshot, decision, new Map())).toEqual([])
})
