import { expect, it } from 'vitest'
import { copiesAtRisk, type ReplicaEnd } from './copies-at-risk.ts'

const moved: ReplicaEnd = { what: 'stopped', replica: 'old', isEngineRunning: true, whole: ['old', 'new'] }

const ends: Readonly<Record<string, readonly [ReplicaEnd, boolean]>> = {
  'the old one is stopped when the new one is whole: nothing is at risk': [moved, false],
  'the old one is stopped while the new one is half made: the volume ends': [{ ...moved, whole: ['old'] }, true],
  'a half made one is stopped beside the old one: nothing is at risk': [
    { ...moved, replica: 'new', whole: ['old'] },
    false,
  ],
  'the only one is stopped while the volume is detached: its data stays': [
    { ...moved, isEngineRunning: false, whole: ['old'] },
    false,
  ],
  'the only one is deleted while the volume is detached: its data is gone': [
    { what: 'deleted', replica: 'old', isEngineRunning: false, whole: ['old'] },
    true,
  ],
  'one that is half made is stopped after the only whole one: what was lost was lost before': [
    { ...moved, replica: 'new', whole: [] },
    false,
  ],
}
it.each(Object.entries(ends))('%s', (_, [end, isAtRisk]) => {
  expect(copiesAtRisk([end])).toEqual(isAtRisk ? [end] : [])
})
