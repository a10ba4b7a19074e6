import { expect, it } from 'vitest'
import { createHeirs } from './heirs.ts'

it('a disk is found in the machine that took the place of another, or who puts one back waits for a node that never comes', () => {
  const heirs = createHeirs()
  heirs.replaced('node-1', 'worker-1')
  heirs.replaced('worker-1', 'worker-2')
  expect(heirs.heirOf('node-1')).toBe('worker-2')
  expect(heirs.firstOf('worker-2')).toBe('node-1')
  expect(heirs.count).toBe(2)
  expect([heirs.heirOf('node-2'), heirs.firstOf('node-2')]).toEqual(['node-2', 'node-2'])
})
