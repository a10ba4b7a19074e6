import { expect, it } from 'vitest'
import { explainNode } from './explain-node.ts'
import { nodeVerdict } from './node-verdict.ts'
import { budget, node, now, pod } from './testing/sample-objects.ts'

const seen = (pods: ReturnType<typeof pod>[], budgets: ReturnType<typeof budget>[]) =>
  nodeVerdict(explainNode({ node: node('worker-a1'), pods, budgets, storage: [], now }))

it('a node whose pods may go has no blocker, and no pod is marked', () => {
  expect(seen([], [])).toEqual({ drain: 'NotCordoned', mayGo: true, summary: 'It holds nothing to evict.' })
})

it('a pod that may not go is marked with what holds it, and the node names the same', () => {
  const verdict = seen([pod('web-1')], [budget('web', { disruptionsAllowed: 0 })])
  expect(verdict.mayGo).toBe(false)
  const [held] = Object.values(verdict.held ?? {})
  expect(held).toEqual({
    object: verdict.blocker?.object,
    reason: verdict.blocker?.reason,
    holder: verdict.blocker?.holder,
  })
  expect(verdict.blockers).toBe(1)
})
