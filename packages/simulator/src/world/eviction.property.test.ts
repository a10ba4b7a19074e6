import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { type IntOrString, scaledValue } from '@cofferdam/kubernetes/api/int-or-string.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { deployments, nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runsOf } from '../../../../test/property-runs.ts'
import { isReady, isTerminating } from './pod-facts.ts'
import { budget, deployment, openWorld } from './testing/scenario.ts'

type BudgetSpec = Pick<PodDisruptionBudget['spec'], 'minAvailable' | 'maxUnavailable' | 'unhealthyPodEvictionPolicy'>

function desiredHealthy({ minAvailable, maxUnavailable }: BudgetSpec, replicas: number): number {
  if (maxUnavailable !== undefined) return Math.max(0, replicas - scaledValue(maxUnavailable, replicas))
  return scaledValue(minAvailable as IntOrString, replicas)
}

const amount = fc.oneof(
  fc.integer({ min: 0, max: 6 }),
  fc.integer({ min: 0, max: 100 }).map((percent) => `${percent}%`),
)
const policy = fc.constantFrom('IfHealthyBudget', 'AlwaysAllow').map((unhealthyPodEvictionPolicy) => ({
  unhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy as 'IfHealthyBudget' | 'AlwaysAllow',
}))
const budgetSpec: fc.Arbitrary<BudgetSpec> = fc
  .tuple(
    fc.oneof(
      amount.map((minAvailable) => ({ minAvailable })),
      amount.map((maxUnavailable) => ({ maxUnavailable })),
    ),
    policy,
  )
  .map(([limit, rest]) => ({ ...limit, ...rest }))

const deed = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('evict-all' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('evict-one' as const), which: fc.nat(20) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 4_000 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cordon' as const), which: fc.nat(20) }) },
)

describe('a greedy administrator who evicts all that the API allows', () => {
  it('never brings the ready pods below what the budget asks for', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          seed: fc.nat(1_000),
          replicas: fc.integer({ min: 1, max: 6 }),
          spec: budgetSpec,
          lagMs: fc.constantFrom(1, 10, 900),
          deeds: fc.array(deed, { minLength: 5, maxLength: 25 }),
        }),
        async ({ seed, replicas, spec, lagMs, deeds }) => {
          const scenario = await openWorld({ seed, nodeCount: 3, disruption: { lagMs }, keepEvents: 'none' })
          await scenario.api.create(deployments, deployment('web', { replicas }))
          await scenario.api.create(podDisruptionBudgets, budget('web', spec))
          await scenario.seconds(15)
          const floor = Math.min(replicas, desiredHealthy(spec, replicas))
          const serving = async () =>
            (await scenario.podsOf('web')).filter((pod) => isReady(pod) && !isTerminating(pod)).length
          const evict = ({ metadata }: Pod) =>
            evictPod(scenario.api, { namespace: 'default', name: metadata.name }).catch((error: unknown) => {
              if (!hasReason(error, 'TooManyRequests', 'NotFound')) throw error
            })
          const open: Promise<void>[] = []
          for (const step of deeds) {
            const pods = await scenario.podsOf('web')
            if (step.do === 'evict-all') open.push(...pods.map(evict))
            else if (step.do === 'evict-one' && pods.length > 0) open.push(evict(pods[step.which % pods.length] as Pod))
            else if (step.do === 'wait') await scenario.clock.advance(step.ms)
            else if (step.do === 'cordon') {
              const key = { name: `node-${1 + (step.which % 2)}` }
              const unschedulable = step.which % 3 === 0
              await scenario.api.patch(nodes, key, { type: 'merge', body: { spec: { unschedulable } } })
            }
            await scenario.clock.advance(0)
            expect(await serving()).toBeGreaterThanOrEqual(floor)
          }
          await scenario.seconds(30)
          await Promise.all(open)
          expect(await serving()).toBeGreaterThanOrEqual(floor)
          expect(scenario.failures).toEqual([])
          scenario.stop()
        },
      ),
      { numRuns: runsOf(30) },
    )
  })
})
