import { describe, expect, it } from 'vitest'
import { explainZone } from './explain-zone.ts'
import type { NodeExplanation } from './explanation.ts'

/** `+` Ready, `-` NotReady; `free` or `held`. */
function node(name: string, [sign, verdict]: readonly ['+' | '-', 'free' | 'held']): NodeExplanation {
  const mayGo = verdict === 'free'
  return {
    object: `node/${name}`,
    mayGo,
    summary: mayGo ? 'All 3 pods may go.' : 'It may not be drained now.',
    blockers: [],
    holds: [],
    disruptions: [],
    node: { isReady: sign === '+', isCordoned: false, drain: 'NotCordoned' },
    pods: [],
    storage: [],
    command: '',
  }
}

type Given = readonly (readonly ['+' | '-', 'free' | 'held'])[]

const zones: Record<string, { given: Given; mayGo: boolean; summary: string }> = {
  'with every node up and free it may go': {
    given: [
      ['+', 'free'],
      ['+', 'free'],
    ],
    mayGo: true,
    summary: 'Each of its 2 nodes may be drained now.',
  },
  'with a dead node that is said first: who reads "may be drained" alone takes the zone for whole': {
    given: [
      ['-', 'free'],
      ['+', 'free'],
    ],
    mayGo: true,
    summary: 'Down (1 of 2 nodes): its rest may go.',
  },
  'with a dead node and a held one nothing may go': {
    given: [
      ['-', 'free'],
      ['+', 'held'],
    ],
    mayGo: false,
    summary: 'Down (1 of 2 nodes): its rest may not go now.',
  },
  'of the rest the held ones are counted': {
    given: [
      ['-', 'free'],
      ['+', 'held'],
      ['+', 'free'],
    ],
    mayGo: false,
    summary: 'Down (1 of 3 nodes): its rest may go; all but 1 of it.',
  },
  'a dead node whose own pods are held blocks the zone, and that is said': {
    given: [
      ['-', 'held'],
      ['+', 'free'],
    ],
    mayGo: false,
    summary: 'Down (1 of 2 nodes): its rest may go; a drain of what is down waits.',
  },
  'with no node up it is down': {
    given: [
      ['-', 'free'],
      ['-', 'free'],
    ],
    mayGo: true,
    summary: 'Down: all its nodes are NotReady. Each of its 2 nodes may be drained now.',
  },
}

describe('may this failure domain go', () => {
  it.each(Object.entries(zones))('%s', (_sentence, { given, mayGo, summary }) => {
    const nodes = given.map((each, at) => node(`worker-a${at + 1}`, each))
    const explained = explainZone({ name: 'a', domainType: 'zone' }, nodes)
    expect({ mayGo: explained.mayGo, summary: explained.summary }).toEqual({ mayGo, summary })
    expect(explained.nodes.map(({ isReady }) => isReady)).toEqual(given.map(([sign]) => sign === '+'))
  })
})
