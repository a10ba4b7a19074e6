import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { describe, expect, it } from 'vitest'
import { decideKured } from './decide.ts'
import { handedAnnotation, parseHandedPlaces } from './handed-places.ts'
import {
  handedTo,
  kuredNode,
  kuredSnapshot,
  nowMs,
  ownLock,
  requestOf,
  type SmallKured,
  said,
  wantedNode,
} from './testing/small-kured.ts'

const whole = { boot: 'boot-1', created: rfc3339(nowMs), since: rfc3339(nowMs) }

const damaged: Record<string, unknown> = {
  'is null': null,
  'has null for an entry': { 'node-1': null },
  'lacks the boot': { 'node-1': { ...whole, boot: undefined } },
  'lacks the time of the place': { 'node-1': { ...whole, created: undefined } },
  'lacks the time of its beginning': { 'node-1': { ...whole, since: 'lately' } },
}

describe('a record of places that were handed out', () => {
  it.each(Object.entries(damaged))(
    'which %s leaves that entry out: a guess would take a place from a node that reboots',
    (_, record) => {
      expect(parseHandedPlaces(JSON.stringify(record))).toEqual([])
    },
  )

  it('keeps what can be read beside an entry that cannot', () => {
    const read = parseHandedPlaces(JSON.stringify({ 'node-1': 7, 'node-2': whole }))
    expect(read).toEqual([{ nodeName: 'node-2', bootID: 'boot-1', createdMs: nowMs, sinceMs: nowMs }])
  })
})

/** kured had the lock for node-1, did not reboot it, and lost it so long ago. */
function gaveUp(hoursAgo: number): object {
  const { 'node-1': entry } = handedTo('node-1', { agoSeconds: hoursAgo * 3_600 + 8_000 }) as { 'node-1': object }
  return { 'node-1': { ...entry, gaveUp: rfc3339(nowMs - hoursAgo * 3_600_000) } }
}

const cases: Record<string, [SmallKured, string[]]> = {
  'is not asked for again within six hours: its pods would move for nothing, hour after hour': [
    { lock: ownLock(), handed: gaveUp(5), nodes: [wantedNode('node-1')] },
    [],
  ],
  'has no lock within them, though it is drained: kured would hold it and not reboot, as before': [
    {
      lock: ownLock(),
      handed: gaveUp(5),
      nodes: [wantedNode('node-1')],
      requests: [requestOf('node-1', 'Drained')],
    },
    ['withdraw request-node-1'],
  ],
  'is asked for again after them': [
    { lock: ownLock(), handed: gaveUp(6), nodes: [wantedNode('node-1')] },
    ['request node-1'],
  ],
  'is forgotten when it was rebooted since: what it wants now is another reboot': [
    { lock: ownLock(), handed: gaveUp(5), nodes: [wantedNode('node-1', { bootID: 'boot-2' })] },
    ['lock cofferdam', 'request node-1'],
  ],
  'is forgotten when kured wants it no more: the next reboot would wait for six hours': [
    { lock: ownLock(), handed: gaveUp(5), nodes: [kuredNode('node-1')] },
    ['lock cofferdam'],
  ],
  'is forgotten when it is gone: records of all nodes that ever were would fill the annotation': [
    { lock: ownLock(), handed: gaveUp(5) },
    ['lock cofferdam'],
  ],
}

describe('a node that kured had the lock for and did not reboot', () => {
  it.each(Object.entries(cases))('%s', (_, [seen, expected]) => {
    expect(said(kuredSnapshot(seen))).toEqual(expected)
  })

  it('that is handed the lock again has a new record: with the old one its place could never be taken back', () => {
    const requests = [requestOf('node-1', 'Drained')]
    const seen = kuredSnapshot({ lock: ownLock(), handed: gaveUp(6), nodes: [wantedNode('node-1')], requests })
    const [step] = decideKured(seen).steps
    const text = step?.do === 'write' && step.write === 'lock' ? step.annotations[handedAnnotation] : undefined
    expect(JSON.parse(text ?? '{}')).toEqual({ 'node-1': whole })
  })
})
