import { describe, expect, it } from 'vitest'
import { createAnchorNames } from './anchor-names.ts'

describe('a link to a heading works on a forge and on the site', () => {
  it.each<[string, string[], string[]]>([
    ['spaces become hyphens and capitals small letters', ['Two drains at once'], ['two-drains-at-once']],
    ['marks go, hyphens and underscores stay', ['`cofferdam drain`: what_is it?'], ['cofferdam-drain-what_is-it']],
    ['what was between two spaces leaves two hyphens', ['Kinds: a & b'], ['kinds-a--b']],
    [
      'the second of a name can be reached too',
      ['Stop it', 'Stop it', 'Stop it'],
      ['stop-it', 'stop-it-1', 'stop-it-2'],
    ],
  ])('%s', (_, headings, anchors) => {
    expect(headings.map(createAnchorNames())).toEqual(anchors)
  })
})
