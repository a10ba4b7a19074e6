import { describe, expect, it } from 'vitest'
import { known } from '../../../shared/observed.ts'
import { buildAskedMark, hasGuidanceMarks, parseGuidanceMarks } from './guidance-marks.ts'

const longhorn = { apiVersion: 'longhorn.io/v1beta2' }
const noted = (annotations: Record<string, unknown>) => ({ annotations }) as { annotations: Record<string, string> }
const node = (asked: unknown) => ({
  ...longhorn,
  kind: 'Node',
  metadata: { name: 'n1', ...noted({ 'cofferdam.io/asked': asked }) },
})
const askedOf = (asked: unknown) => parseGuidanceMarks({ settings: [], nodes: [node(asked)] }).nodes.get('n1')?.asked
const before = { allowScheduling: true, isYielded: false }

describe('what was asked of a node', () => {
  it('comes back as it was written, disks in the order of their names', () => {
    const disks = new Map([
      ['d2', { allowScheduling: false, isYielded: true }],
      ['d1', before],
      ['d3', before],
    ])
    const text = buildAskedMark({ node: undefined, disks })
    expect(text).toMatch(/d1.*d2.*d3/)
    expect(askedOf(text)).toEqual(known({ node: undefined, disks }))
    expect(askedOf(buildAskedMark({ node: before, disks: new Map() }))).toEqual(
      known({ node: before, disks: new Map() }),
    )
  })

  it.each([
    '{',
    '7',
    '[]',
    '{}',
    '{"allowScheduling":"yes"}',
    '{"disks":[]}',
    '{"disks":{"d1":true}}',
    '{"disks":{"d1":{"allowScheduling":true,"yielded":1}}}',
    7,
  ])('is not believed in part: with %j nothing is put back that may never have been', (text) => {
    expect(askedOf(text)).toMatchObject({ known: false })
  })

  it('that cannot be read is still a mark: its node is reconciled until somebody corrects it', () => {
    expect(hasGuidanceMarks(parseGuidanceMarks({ settings: [], nodes: [node('{')] }))).toBe(true)
  })
})

describe('what the drain policy was before', () => {
  const restores = (text: unknown) => {
    const metadata = { name: 'node-drain-policy', ...noted({ 'cofferdam.io/restores': text }) }
    const settings = [{ ...longhorn, kind: 'Setting', metadata, value: 'always-allow' }]
    return parseGuidanceMarks({ settings, nodes: [] }).setting?.restores
  }
  it('is put back as it was spelled', () => {
    expect(restores('block-for-eviction')).toEqual(known('block-for-eviction'))
  })

  it.each(['often', 7])('is never put back where it is none: %j', (text) => {
    expect(restores(text)).toMatchObject({ known: false })
  })
})
