import type { LonghornVolume } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { describe, expect, it } from 'vitest'
import { decideLonghornDrain } from './decide.ts'
import { boundCloneOf } from './linked-clone.ts'
import { type Fixture, gist, longhornFixture } from './testing/longhorn-fixture.ts'

function volume(spec: LonghornVolume['spec'], labels: Record<string, string> = {}): LonghornVolume {
  return {
    apiVersion: 'longhorn.io/v1beta2',
    kind: 'Volume',
    metadata: { name: 'clone', labels },
    ...(spec === undefined ? {} : { spec }),
  }
}

const linked = { cloneMode: 'linked-clone', dataSource: 'vol://db' } as const
const legacy = { 'longhorn.io/legacy-linked-clone': 'true' }

describe('a volume', () => {
  const rows: Record<string, readonly [LonghornVolume, unknown, string | undefined]> = {
    'that is no clone moves': [volume({}), 'v1.11.1', undefined],
    'that is a full copy moves': [volume({ cloneMode: 'full-copy', dataSource: 'vol://db' }), 'v1.11.1', undefined],
    'that is a linked clone is not moved by Longhorn before 1.12.1': [
      volume(linked),
      'v1.12.0',
      'it is a linked clone of volume db, and Longhorn v1.12.0 does not move linked clones',
    ],
    'that is a linked clone moves from 1.12.1 on': [volume(linked), 'v1.12.1', undefined],
    'that is a linked clone moves in what comes after': [volume(linked), 'v2.0.0', undefined],
    'that was linked before 1.12.1 stays where it is for ever': [
      volume(linked, legacy),
      'v1.12.1',
      'it is a linked clone of volume db from before Longhorn 1.12.1, which never moves',
    ],
    'that is a linked clone may not move where the version is not known': [
      volume({ cloneMode: 'linked-clone', dataSource: 'snap://db/monday' }),
      undefined,
      'it is a linked clone of volume db, and it is not known whether this version of Longhorn moves linked clones',
    ],
    'that is a linked clone of nobody knows what is one all the same': [
      volume({ cloneMode: 'linked-clone' }),
      'master-head',
      'it is a linked clone, and it is not known whether this version of Longhorn moves linked clones',
    ],
  }
  it.each(Object.entries(rows))('%s', (_, [seen, version, expected]) => {
    expect(boundCloneOf(seen, version)).toBe(expected)
  })
})

describe('a replica of a linked clone that Longhorn does not move', () => {
  const boundClone = 'it is a linked clone of volume db, and Longhorn v1.11.1 does not move linked clones'
  const clone = { clone: { copies: { n1: 'healthy' as const }, boundClone } }
  const decide = (fixture: Partial<Fixture>) =>
    decideLonghornDrain(
      longhornFixture({ nodes: { n1: { isCordoned: true }, n2: {}, n3: {} }, volumes: clone, ...fixture }),
    )

  it('holds its node and says why: it was called "being copied" for ever, and the drain never ended', () => {
    const decision = decide({ policy: 'block-for-eviction' })
    expect(gist(decision)).toMatchObject({ kept: 'im-n1 im-n2 im-n3', flags: '', mayDrain: 'n1: LinkedCloneReplica' })
    expect(decision.nodes[0]).toMatchObject({
      bytesLeft: 0,
      explanation: `Replica clone-n1 of volume clone stays on node n1: ${boundClone}.`,
      blockers: [{ object: 'replica/clone-n1', wayOut: expect.stringContaining('Delete the volume') }],
    })
  })

  it('keeps the flag it has, since Longhorn neither raises nor lowers it', () => {
    const copies = { n1: { isEvictionRequested: true } }
    const asked = { n1: { isCordoned: true, isEvictionAsked: true }, n2: {} }
    expect(gist(decide({ nodes: asked })).flags).toBe('')
    expect(gist(decide({ volumes: { clone: { copies, boundClone } } })).flags).toBe('=clone-n1 EvictionAutomatic')
  })

  it('holds nothing under a policy that lets it go', () => {
    expect(gist(decide({ policy: 'always-allow' })).mayDrain).toBe('n1: yes')
    const stopped = { clone: { copies: { n1: { isStopped: true } }, boundClone } }
    expect(gist(decide({ policy: 'allow-if-replica-is-stopped', volumes: stopped })).mayDrain).toBe('n1: yes')
  })
})
