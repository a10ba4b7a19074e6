import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  changeMarks,
  keptAnnotation,
  type MarkAnnotations,
  ownMarks,
  parseMarks,
  scaleDownMarks,
} from './scale-down-marks.ts'

const [ca, karpenter] = scaleDownMarks
const both = `${ca},${karpenter}`
const marked = { [ca]: 'true', [karpenter]: 'true', [keptAnnotation]: both }

interface Case {
  readonly before: MarkAnnotations
  readonly isKept: boolean
  readonly after: Readonly<Record<string, string | null>>
}

const cases: Record<string, Case> = {
  'a node that is drained for a reboot gets both marks and the note of them in one write: a crash leaves all or none': {
    before: {},
    isKept: true,
    after: marked,
  },
  'a node that has them is not written again': { before: marked, isKept: true, after: {} },
  'after the end exactly what was set is taken away': {
    before: marked,
    isKept: false,
    after: { [ca]: null, [karpenter]: null, [keptAnnotation]: null },
  },
  'a node without a request and without marks is left alone': { before: {}, isKept: false, after: {} },
  'a mark that the administrator had set before is not noted, so it stays after the end': {
    before: { [ca]: 'true' },
    isKept: true,
    after: { [karpenter]: 'true', [keptAnnotation]: karpenter },
  },
  'a mark of the administrator that says no is not overwritten, for it is an order': {
    before: { [karpenter]: 'false' },
    isKept: true,
    after: { [ca]: 'true', [keptAnnotation]: ca },
  },
  'where the administrator had set both, only the note is written': {
    before: { [ca]: 'true', [karpenter]: 'true' },
    isKept: true,
    after: { [keptAnnotation]: '' },
  },
  'marks of the administrator stay when only the empty note is taken away': {
    before: { [ca]: 'true', [karpenter]: 'true', [keptAnnotation]: '' },
    isKept: false,
    after: { [keptAnnotation]: null },
  },
  'a mark that the administrator changes meanwhile becomes theirs': {
    before: { ...marked, [ca]: 'false' },
    isKept: true,
    after: { [keptAnnotation]: karpenter },
  },
  'a changed mark is left after the end, as the administrator wants it': {
    before: { ...marked, [ca]: 'false' },
    isKept: false,
    after: { [karpenter]: null, [keptAnnotation]: null },
  },
  'a mark that the administrator takes away meanwhile is not set again: who removes it lets the node go': {
    before: { [karpenter]: 'true', [keptAnnotation]: both },
    isKept: true,
    after: { [keptAnnotation]: karpenter },
  },
  'a note that names anything else removes nothing else': {
    before: { [ca]: 'true', [keptAnnotation]: `kubernetes.io/hostname,${karpenter}` },
    isKept: false,
    after: { [keptAnnotation]: null },
  },
}

describe('the marks on a node', () => {
  it.each(Object.entries(cases))('%s', (_sentence, { before, isKept, after }) => {
    expect(changeMarks(before, isKept)).toEqual(after)
  })
})

const value = fc.constantFrom('true', 'false', '', '1h')
const anyMarks = fc
  .record({
    [ca]: fc.option(value, { nil: undefined }),
    [karpenter]: fc.option(value, { nil: undefined }),
    [keptAnnotation]: fc.option(fc.constantFrom('', ca, karpenter, both, 'nonsense'), { nil: undefined }),
  })
  .map((annotations) => parseMarks(annotations as Record<string, string>))

function applied(before: MarkAnnotations, change: Readonly<Record<string, string | null>>): MarkAnnotations {
  const after = Object.entries({ ...before, ...change }).filter(([, text]) => text !== null)
  return Object.fromEntries(after) as MarkAnnotations
}

it('once written nothing more is written, and a node that came without a note leaves as it came', () => {
  fc.assert(
    fc.property(anyMarks, fc.boolean(), (before, isKept) => {
      const after = applied(before, changeMarks(before, isKept))
      expect(changeMarks(after, isKept)).toEqual({})
      if (!isKept || before[keptAnnotation] !== undefined) return
      expect(applied(after, changeMarks(after, false))).toEqual(before)
    }),
  )
})

it('marks without a note are those of the administrator, so none of them is reported as set by Cofferdam', () => {
  expect([ownMarks({ [ca]: 'true', [karpenter]: 'true' }), ownMarks(marked)]).toEqual([[], [ca, karpenter]])
})
