import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runsOf } from '../../../../../../test/property-runs.ts'
import { createLeavingDecider } from './decide-leaving.ts'
import { createLonghornJudge } from './judge.ts'
import { withCordon } from './seen-closing.ts'
import { drainModes, type LonghornSnapshot } from './snapshot.ts'
import { arbitraryLonghorn } from './testing/arbitrary-longhorn.ts'

const seenWorld = fc
  .tuple(arbitraryLonghorn, fc.constantFrom(...drainModes), fc.constantFrom(false, false, false, true))
  .map(([seen, mode, isAutoscaled]) => ({ ...seen, settings: { ...seen.settings, mode, isAutoscaled } }))

it('a node is answered alone as by a decision about all of Longhorn, so that a plan says what the operator does', () => {
  fc.assert(
    fc.property(fc.array(seenWorld, { minLength: 1, maxLength: 3 }), (worlds) => {
      const decide = createLeavingDecider()
      for (const seen of worlds) {
        for (const { name } of seen.nodes) expect(decide(seen, name)).toEqual(decideWhole(seen, name))
        expect(decide(seen, 'n9')).toEqual({ answer: undefined, later: undefined })
      }
    }),
    { numRuns: runsOf(1000) },
  )
})

/** With that node cordoned and drained; and again with the budgets that are made for others, where we or the autoscaling make them. */
function decideWhole(seen: LonghornSnapshot, name: string) {
  const leaving = {
    ...seen,
    nodes: seen.nodes.map((node) => (node.name === name ? { ...withCordon(node), isDraining: true } : node)),
  }
  const { budgets: answers, nodes } = createLonghornJudge().decide(leaving)
  const made = answers.filter(({ wanted, node }) => wanted === 'present' && node !== name)
  const isMade = seen.settings.mode === 'hold' || seen.settings.isAutoscaled
  const budgets = new Set([...seen.budgets, ...(isMade ? made.map(({ instanceManager }) => instanceManager) : [])])
  const later = createLonghornJudge().decide({ ...leaving, budgets }).nodes
  const own = ({ node }: { readonly node: string }) => node === name
  return { answer: nodes.find(own), later: later.find(own) }
}
