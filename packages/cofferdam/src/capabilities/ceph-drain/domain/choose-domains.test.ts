import { describe, expect, it } from 'vitest'
import { chooseDomains } from './choose-domains.ts'
import type { DomainView, Layout } from './layout.ts'

type May = DomainView['verdict']['may']

/** A domain that is being drained: one of its OSDs is down, another still has to go. */
function drained(name: string, may: May, osds: readonly [number, number]): DomainView {
  const [down, leaving] = osds
  return {
    name,
    bucket: name,
    osds,
    nodes: [`${name}-node`],
    drainedNodes: [`${name}-node`],
    down: [down],
    lostWith: [],
    neededDown: [down],
    isDrained: true,
    leaving: [leaving],
    lostDaemons: [],
    verdict: { may } as DomainView['verdict'],
  }
}

function layoutOf(domains: readonly DomainView[], missing: Layout['missing']): Layout {
  return {
    type: 'zone',
    osds: [],
    domains,
    isClean: false,
    isAtRest: false,
    unneeded: new Set(),
    missing,
    problems: [],
  }
}

const free = { mayBegin: () => true, mayOpen: () => true, hindranceTo: () => undefined }
const missing = [
  { id: 1, domain: 'a' },
  { id: 3, domain: 'b' },
]

interface Row {
  readonly verdicts: readonly [May, May]
  readonly missing?: Layout['missing']
  readonly openable?: readonly (readonly string[])[]
  readonly released: readonly string[]
}

const rows: Record<string, Row> = {
  'two domains that may go together stay open together': {
    verdicts: ['yes', 'yes'],
    openable: [['a', 'b']],
    released: ['a', 'b'],
  },
  'two domains of which each may go, but not both, are not both open': { verdicts: ['yes', 'yes'], released: ['a'] },
  'while nothing is known of two open domains, and all that is missing is in them, their drains go on': {
    verdicts: ['unknown', 'unknown'],
    released: ['a', 'b'],
  },
  'one of two open domains must stay, and nothing is known of the other: not both are open, and not the other alone, since data waits for the first':
    { verdicts: ['no', 'unknown'], openable: [['a', 'b']], released: [] },
  'the same, the other way round': { verdicts: ['unknown', 'no'], openable: [['a', 'b']], released: [] },
  'what Ceph and our own reckoning disagree about is not open, known or not beside it': {
    verdicts: ['disputed', 'unknown'],
    openable: [['a', 'b']],
    released: [],
  },
  'one of them must stay, and nothing is missing but in the other, of which nothing is known: that one goes on alone': {
    verdicts: ['no', 'unknown'],
    missing: [{ id: 3, domain: 'b' }],
    released: ['b'],
  },
}

describe('two failure domains that were open', () => {
  it.each(Object.entries(rows))('%s', (_, { verdicts, missing: gone = missing, openable = [], released }) => {
    const [a, b] = verdicts
    const layout = layoutOf([drained('a', a, [1, 2]), drained('b', b, [3, 4])], gone)
    const uncovered = new Set(['a', 'b'])
    const chosen = chooseDomains({ layout, recorded: ['a', 'b'], uncovered, maxDomains: 2, openable, rule: free })
    expect(chosen.released).toEqual(released)
  })
})
