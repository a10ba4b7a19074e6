import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { betterPlaces, decideSurplus } from './replica-balance.ts'
import { exampleReplica } from './testing/replica-example.ts'
import type { ReplicaFacts, VolumeFacts } from './volume-health.ts'

/** `a1`: on the first node of zone a. */
function copy(node: string, changes: Partial<ReplicaFacts> = {}): ReplicaFacts {
  return exampleReplica({ name: `on-${node}`, node, zone: node[0] ?? '', ...changes })
}

function volume(replicas: readonly ReplicaFacts[], changes: Partial<VolumeFacts> = {}): VolumeFacts {
  return {
    isAttached: true,
    isMigrating: false,
    mayReuse: true,
    wantedCount: replicas.length,
    balance: 'least-effort',
    replicas,
    ...changes,
  }
}

const open = (...names: readonly string[]) => names.map((name) => ({ name, zone: name[0] ?? '' }))
const twins = [copy('a1'), copy('a1', { name: 'twin' })]

describe('where a copy would be better', () => {
  const rows: Record<string, { facts: VolumeFacts; nodes: readonly string[]; expected: string[][] }> = {
    'nowhere while balance is switched off, though two copies share a node': {
      facts: volume(twins, { balance: 'disabled' }),
      nodes: ['a1', 'a2'],
      expected: [],
    },
    'in a zone without one, where another zone has two; any unused node there will do': {
      facts: volume([copy('a1'), copy('a2')]),
      nodes: ['a1', 'a2', 'b1', 'b2'],
      expected: [['b1', 'b2']],
    },
    'on a node without one, where another node has two': {
      facts: volume(twins),
      nodes: ['a1', 'a2'],
      expected: [['a2']],
    },
    'nowhere when every copy has a node and a zone of its own': {
      facts: volume([copy('a1'), copy('b1')]),
      nodes: ['a1', 'a2', 'b1', 'b2', 'c1'],
      expected: [],
    },
    'little effort is content when no node is empty': {
      facts: volume([...twins, copy('a1', { name: 'third' }), copy('a2')]),
      nodes: ['a1', 'a2'],
      expected: [],
    },
    'the best effort is not': {
      facts: volume([...twins, copy('a1', { name: 'third' }), copy('a2')], { balance: 'best-effort' }),
      nodes: ['a1', 'a2'],
      expected: [['a2']],
    },
    'nowhere while a copy is to go': {
      facts: volume([copy('a1', { isEvicting: true }), copy('a1', { name: 'twin' })]),
      nodes: ['a1', 'a2'],
      expected: [],
    },
    'nowhere while the volume is degraded': {
      facts: volume(twins, { wantedCount: 3 }),
      nodes: ['a1', 'a2'],
      expected: [],
    },
    'nowhere while there is one too many already': {
      facts: volume(twins, { wantedCount: 1 }),
      nodes: ['a1', 'a2'],
      expected: [],
    },
    'beside its user, where that is wished': {
      facts: volume([copy('a1')], { balance: 'disabled', localNode: 'b1' }),
      nodes: ['a1', 'b1'],
      expected: [['b1']],
    },
    'nowhere when one is beside its user': {
      facts: volume([copy('b1')], { balance: 'disabled', localNode: 'b1' }),
      nodes: ['a1', 'b1'],
      expected: [],
    },
  }
  it.each(Object.entries(rows))('%s', (_name, { facts, nodes, expected }) => {
    expect(betterPlaces(facts, open(...nodes))).toEqual(expected)
  })
})

describe('which surplus copy goes', () => {
  const rows: Record<string, { facts: VolumeFacts; expected: string | undefined }> = {
    'none where neither locality nor balance asks for it': {
      facts: volume(twins, { wantedCount: 1, balance: 'disabled' }),
      expected: undefined,
    },
    'none when there are just enough': { facts: volume(twins), expected: undefined },
    'none while another is to go': {
      facts: volume([...twins, copy('b1', { isEvicting: true })], { wantedCount: 2 }),
      expected: undefined,
    },
    'none of a detached volume': {
      facts: volume(twins, { wantedCount: 1, isAttached: false }),
      expected: undefined,
    },
    'never the only healthy one': {
      facts: volume([copy('a1'), copy('a1', { name: 'twin', mode: 'WO' })], { wantedCount: 0 }),
      expected: undefined,
    },
    'one of two that share a node': {
      facts: volume([copy('b1'), copy('b2'), ...twins], { wantedCount: 3 }),
      expected: 'on-a1',
    },
    'else one of two that share a zone': {
      facts: volume([copy('a1'), copy('b1'), copy('b2')], { wantedCount: 2 }),
      expected: 'on-b1',
    },
    'not the one beside its user, though it shares its zone': {
      facts: volume([copy('a1'), copy('b1'), copy('b2')], { wantedCount: 2, localNode: 'b1' }),
      expected: 'on-b2',
    },
    'with locality alone, any other than the one beside its user': {
      facts: volume([copy('a1'), copy('b1')], { wantedCount: 1, balance: 'disabled', localNode: 'a1' }),
      expected: 'on-b1',
    },
    'with locality alone, none as long as no copy is beside its user': {
      facts: volume([copy('a1'), copy('b1')], { wantedCount: 1, balance: 'disabled', localNode: 'c1' }),
      expected: undefined,
    },
  }
  it.each(Object.entries(rows))('%s', (_name, { facts, expected }) => {
    expect(decideSurplus(facts)).toBe(expected)
  })
})

it('moving to better places comes to an end, wherever copies begin and whichever of the places is taken', () => {
  const names = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']
  const places = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 7 })
  const choices = fc.infiniteStream(fc.nat(100))
  const effort = fc.constantFrom('least-effort' as const, 'best-effort' as const)
  const local = fc.constantFrom('a1', 'b2', undefined)
  fc.assert(
    fc.property(places, choices, effort, local, (begin, chosen, balance, localNode) => {
      let replicas = begin.map((node, index) => copy(node, { name: `r${index}` }))
      const wantedCount = replicas.length
      for (let moves = 0; ; moves += 1) {
        expect(moves).toBeLessThan(60)
        const facts = volume(replicas, { balance, localNode })
        const [target] = betterPlaces(facts, open(...names))
        if (target === undefined) return
        const node = target[(chosen.next().value ?? 0) % target.length] as string
        const grown = [...replicas, copy(node, { name: `m${moves}` })]
        const gone = decideSurplus({ ...facts, wantedCount, replicas: grown })
        expect(gone).toBeDefined()
        replicas = grown.filter(({ name }) => name !== gone)
      }
    }),
    { numRuns: 300 },
  )
})
