import { expect, it } from 'vitest'
import { StorageTurns } from './storage-turns.ts'

const held = { 'node-b': 'osd.1' }
const turn = { domains: ['zone-a'], heldNodes: held, openNodes: ['node-a'] }
const key = 'rook-ceph/rook-ceph'

function openTurns() {
  const turns = new StorageTurns()
  const notified: string[] = []
  turns.follow('turn', (each) => notified.push(each), new AbortController().signal)
  turns.publish(key, turn)
  notified.length = 0
  return { turns, notified }
}

it('a turn that is decided again as it was notifies nobody, or every poll of Ceph would cost two more passes over all budgets', () => {
  const { turns, notified } = openTurns()
  turns.narrow(key, { ...turn })
  turns.publish(key, { ...turn })
  expect(notified).toEqual([])
})

it.each([
  { change: 'another failure domain may go', next: { ...turn, domains: ['zone-b'] } },
  { change: 'another node is held', next: { ...turn, heldNodes: { ...held, 'node-c': 'osd.2' } } },
  { change: 'a node has gone', next: { ...turn, openNodes: [] } },
])('who follows hears of it when $change, or mons would stay as the turn before wanted it', ({ next }) => {
  const { turns, notified } = openTurns()
  turns.publish(key, next)
  expect(notified).toEqual([key])
})
