import { scaledValue } from '@cofferdam/kubernetes/api/int-or-string.ts'
import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { isActive, isReady } from '@cofferdam/simulator/world/pod-facts.ts'
import type { Stage } from '../stage/open-stage.ts'
import type { Blame } from './blame.ts'
import type { Excuses } from './excuses.ts'

export const shop = 'shop'

export interface AppOracle {
  look(): void
}

/** S5: every application keeps what its budget, as it was at first, asks for, unless a machine broke or people took pods themselves. */
export function watchApps({ views, world, shape }: Stage, { blame }: Blame, excuses: Excuses): AppOracle {
  const limits = new Map<string, PodDisruptionBudget>()
  for (const app of shape.apps) {
    const budget = views.of(podDisruptionBudgets).get(`${shop}/${app}`)
    if (budget !== undefined) limits.set(app, budget)
  }
  return {
    look() {
      if (excuses.isMeddledWith('nodes')) return
      for (const [app, { spec, status }] of limits) {
        if (excuses.isMeddledWith(`app ${app}`)) continue
        const expected = status?.expectedPods ?? 0
        const needed =
          spec.maxUnavailable === undefined
            ? scaledValue(spec.minAvailable ?? 0, expected)
            : expected - scaledValue(spec.maxUnavailable, expected)
        const up = [...views.of(pods).values()].filter(
          (pod) =>
            pod.metadata.namespace === shop &&
            isSelected(spec.selector ?? {}, pod.metadata.labels) &&
            isActive(pod) &&
            isReady(pod) &&
            world.kubelet.isOn(pod.spec.nodeName ?? ''),
        )
        if (up.length < needed) blame('S5', `${app} had ${up.length} pods that run, and needs ${needed}`)
      }
    },
  }
}
