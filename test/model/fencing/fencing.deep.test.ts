import { describe, expect, it } from 'vitest'
import { exploreFencing } from './explore-fencing.ts'
import { plannedReboot, plantedFencingBugs, rebootBeside, silentNode, twoSilentNodes } from './planted-fencing-bugs.ts'

describe('in every state that can be reached, no node is fenced that storage or a plan needs, and every node can be released', () => {
  const stories = [silentNode, twoSilentNodes, plannedReboot, rebootBeside]
  it.each(stories.map((bounds) => [bounds.name, bounds] as const))('%s', (_name, bounds) => {
    const { states, finding, isComplete } = exploreFencing(bounds)
    expect({ finding, isComplete }).toEqual({ finding: undefined, isComplete: true })
    expect(states).toBeGreaterThan(300)
  })
})

describe('a planted bug of fencing is found', () => {
  const cases: Record<keyof typeof plantedFencingBugs, string> = {
    'a reboot on plan is not asked for': 'I20 planned: node-b is fenced while it is rebooted on plan',
    'what has to be kept since is kept with the next pass':
      'I20 planned: node-b is fenced while it is rebooted on plan',
    'who holds the storage does not matter to fencing': 'I20 planned: node-b is fenced while it is rebooted on plan',
    'a drain does not ask whether fencing is closed': 'I20 planned: node-b is fenced while it is rebooted on plan',
    'a fence holds nothing in the ledger': 'I12 fencing: node-a is fenced and its storage is not held',
    'all data is always clean to fencing': 'I5 one failure domain: node-b is cut off while data of the other is away',
    'no budget is ever opened':
      'L1: whatever happens from here, some node is never released or something is left behind',
  }
  it.each(Object.entries(cases))('%s', (name, expected) => {
    const { bounds, parts } = plantedFencingBugs[name as keyof typeof plantedFencingBugs]
    expect(exploreFencing(bounds, { parts }).finding?.what).toBe(expected)
  })
})
