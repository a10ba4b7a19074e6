import { describe, expect, it } from 'vitest'
import { buildDomainRecord } from '../capabilities/ceph-drain/domain/domain-record.ts'
import { crowdingProblems, foreignPartOf, problemsText, shortExplanation, shortText } from './record-limits.ts'
import { recordNotes } from './record-notes.ts'

const annotationLimit = 262_144
const bytesOf = (text: string) => new TextEncoder().encode(text).length

function recordWith(annotations: Record<string, string>, more: object = {}) {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'rook-ceph', name: 'rook-ceph-pdbstatemap', annotations },
    ...more,
  }
}

describe('a record that always fits', () => {
  it('2,911 OSDs without a zone label are told in a few lines, or the record would be refused and no budget follow', () => {
    const problems = Array.from({ length: 2_911 }, (_, id) => ({
      object: `deployment/rook-ceph-osd-${id}`,
      problem: 'has no label topology-location-zone; it is held whenever any failure domain is open',
    }))
    const lines = problemsText(problems).split('; ')
    expect(lines).toHaveLength(21)
    expect(lines.at(0)).toMatch(/^deployment\/rook-ceph-osd-0: /)
    expect(lines.at(-1)).toBe('2891 more objects with problems')
  })

  it('few problems are told whole, and none is told as nothing', () => {
    expect(problemsText([])).toBe('')
    expect(problemsText([{ object: 'node/a', problem: 'is gone' }])).toBe('node/a: is gone')
  })

  it('one endless problem does not crowd out the others', () => {
    const text = problemsText([
      { object: 'node/a', problem: 'x'.repeat(300_000) },
      { object: 'node/b', problem: 'is gone' },
    ])
    expect(bytesOf(text)).toBeLessThan(5_000)
    expect(text).toMatch(/…; node\/b: is gone$/)
  })

  it('text is cut between characters, never within one', () => {
    expect(shortText('aé€😀', 100)).toBe('aé€😀')
    expect(shortText('ééééé', 8)).toBe('éé…')
    expect(shortText('😀😀', 6)).toBe('…')
  })

  it('the longest of ours and the most of theirs together stay within what the API server takes', () => {
    const theirs = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`example.com/${at}`, 'x'.repeat(6_000)]))
    const { annotations } = foreignPartOf(recordWith(theirs))
    const answers = Array.from({ length: 5_000 }, (_, at) => ({
      domain: `rack-${at}`,
      osds: [at],
      nodes: [`node-${at}`],
      mayDrain: false,
      reason: 'TooFewCopies' as const,
      explanation: 'x'.repeat(500),
    }))
    const problems = Array.from({ length: 500 }, () => ({ object: 'node/a', problem: 'y'.repeat(4_000) }))
    const all = [
      ...Object.entries(annotations).flat(),
      ...Object.values(recordNotes),
      buildDomainRecord(answers),
      problemsText(problems),
      shortExplanation('z'.repeat(500_000)),
    ]
    expect(all.reduce((sum, text) => sum + bytesOf(text), 0)).toBeLessThan(annotationLimit - 50_000)
  })

  it('notes of others stay while they leave room; of too many the largest go, and it is said', () => {
    const small = recordWith({ 'example.com/team': 'storage', [recordNotes.reason]: 'AnyOsdMayGo' })
    expect(foreignPartOf(small).annotations).toEqual({ 'example.com/team': 'storage' })
    expect(crowdingProblems(small)).toEqual([])

    const filled = recordWith({ 'example.com/team': 'storage', 'evil.example/fill': 'x'.repeat(250_000) })
    expect(foreignPartOf(filled).annotations).toEqual({ 'example.com/team': 'storage' })
    expect(crowdingProblems(filled)).toEqual([
      {
        object: 'configmap/rook-ceph-pdbstatemap',
        problem: expect.stringMatching(/^annotation evil\.example\/fill left no room for the record and was removed;/),
      },
    ])
  })

  it('data of others stays where the caller says which keys are its own, and too much of it is told', () => {
    const isOwnKey = (key: string) => key === 'set-no-out'
    const data = { 'set-no-out': 'true', note: 'small', fill: 'x'.repeat(70_000) }
    const record = recordWith({}, { data })
    expect(foreignPartOf(record, isOwnKey)).toMatchObject({ data: { note: 'small' }, removed: ['data fill'] })
    expect(foreignPartOf(record).data).toEqual({})
  })

  it('labels and binary data of others that fill the object go as well', () => {
    const labels = Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`example.com/${at}`, 'x'.repeat(60)]))
    const filled = recordWith({}, { binaryData: { fill: 'A'.repeat(1_000_000) } })
    const { removed, binaryData } = foreignPartOf({ ...filled, metadata: { ...filled.metadata, labels } })
    expect(binaryData).toEqual({})
    expect(removed).toContain('binaryData fill')
    expect(removed.length).toBeGreaterThan(1_000)
  })
})
