import { expect, it } from 'vitest'
import { openEmbeddedSide } from './embedded-side.ts'
import { generateSequence } from './generate-steps.ts'
import { configMapKind } from './kinds/config-map.ts'
import { runSequence } from './run-sequence.ts'
import { tellDivergence } from './scenario.ts'
import { shrink } from './shrink.ts'
import type { Side, WireAnswer } from './side.ts'
import type { Sequence } from './step.ts'

const nothing = () => false

async function twoSides(change: (answer: WireAnswer) => WireAnswer): Promise<{ real: Side; embedded: Side }> {
  const [first, embedded] = await Promise.all([openEmbeddedSide(), openEmbeddedSide()])
  return { real: { ...first, name: 'real', send: async (request) => change(await first.send(request)) }, embedded }
}

it('two servers of the same kind never disagree: what is told of a real one is not made up', async () => {
  const sides = await twoSides((answer) => answer)
  try {
    for (const seed of [1, 2, 3]) {
      const sequence = generateSequence(configMapKind, seed, 15)
      const result = await runSequence(sides, { sequence, namespace: `same-${seed}`, excuse: nothing })
      expect(result).toEqual({ compared: sequence.steps.length })
    }
  } finally {
    await Promise.all([sides.real.close(), sides.embedded.close()])
  }
})

it('a server that answers one request differently is caught, and told of in the fewest steps', async () => {
  const sides = await twoSides((answer) => (answer.code === 404 ? { ...answer, code: 410 } : answer))
  let told = 0
  const run = (sequence: Parameters<typeof runSequence>[1]['sequence']) => {
    told += 1
    return runSequence(sides, { sequence, namespace: `odd-${told}`, excuse: nothing })
  }
  try {
    const { divergence } = await run(generateSequence(configMapKind, 4, 25))
    if (divergence === undefined) throw new Error('the servers agreed')
    const shortest = await shrink(divergence, run)
    expect(shortest.sequence.steps).toHaveLength(1)
    expect(tellDivergence(shortest)).toContain('real:     410')
  } finally {
    await Promise.all([sides.real.close(), sides.embedded.close()])
  }
})

it('a story ends where budgets are counted differently, which is listed: all that follows would differ too', async () => {
  const sides = await twoSides(
    (answer) => JSON.parse(JSON.stringify(answer).replaceAll('"expectedPods":0', '"expectedPods":1')) as WireAnswer,
  )
  const path = '/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets'
  const body = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'a' }, spec: {} }
  const steps: Sequence['steps'] = [
    { asks: 'request', method: 'POST', path, body },
    { asks: 'settle-budgets' },
    { asks: 'request', method: 'GET', path: `${path}/a` },
  ]
  try {
    const sequence: Sequence = { name: 'budgets', budgets: 'live', steps }
    const result = await runSequence(sides, { sequence, namespace: 'counted', excuse: () => true })
    expect(result).toEqual({ compared: 2 })
  } finally {
    await Promise.all([sides.real.close(), sides.embedded.close()])
  }
})

it('a controller that has not counted yet is waited for: on a busy machine it would look like one that counts otherwise', async () => {
  const began = performance.now()
  const sides = await twoSides((answer) =>
    performance.now() - began > 5_000
      ? answer
      : (JSON.parse(
          JSON.stringify(answer).replaceAll(/"status":\{[^{}]*("conditions":\[[^\]]*\])[^{}]*\}/g, '"status":{}'),
        ) as WireAnswer),
  )
  const path = '/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets'
  const body = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'a' },
    spec: { minAvailable: 1 },
  }
  const steps: Sequence['steps'] = [{ asks: 'request', method: 'POST', path, body }, { asks: 'settle-budgets' }]
  try {
    const sequence: Sequence = { name: 'budgets', budgets: 'live', steps }
    expect(await runSequence(sides, { sequence, namespace: 'late', excuse: nothing })).toEqual({ compared: 2 })
  } finally {
    await Promise.all([sides.real.close(), sides.embedded.close()])
  }
})
