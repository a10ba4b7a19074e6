import type { Container, PodSpec } from '@cofferdam/kubernetes/api/core.ts'
import { parseQuantity } from '@cofferdam/kubernetes/api/quantity.ts'

const counted = ['cpu', 'memory']

/** How dear the pod is to its node when memory runs out. */
export function qosClassOf(spec: PodSpec): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  let isGuaranteed = true
  let isBestEffort = true
  const { initContainers = [] } = spec
  for (const container of initContainers.length === 0
    ? (spec.containers ?? [])
    : [...(spec.containers ?? []), ...initContainers]) {
    const requests = container.resources?.requests
    const limits = container.resources?.limits
    for (const resource of counted) {
      const request = requests?.[resource]
      const limit = limits?.[resource]
      if (isPositive(request) || isPositive(limit)) isBestEffort = false
      if (!isPositive(limit) || !isSame(request ?? limit, limit)) isGuaranteed = false
    }
  }
  if (isBestEffort) return 'BestEffort'
  return isGuaranteed ? 'Guaranteed' : 'Burstable'
}

/** Requests that were left out are what the limits say. */
export function requestsFromLimits<T extends Container>(container: T): T {
  const limits = container.resources?.limits
  if (limits === undefined) return container
  const requests = container.resources?.requests
  const missing = Object.keys(limits).filter((resource) => requests?.[resource] === undefined)
  if (missing.length === 0) return container
  const inferred = Object.fromEntries(missing.map((resource) => [resource, limits[resource] as string]))
  return { ...container, resources: { ...container.resources, requests: { ...requests, ...inferred } } }
}

function isPositive(quantity: string | undefined): quantity is string {
  return quantity !== undefined && /^[+]?[0.]*[1-9]/.test(quantity)
}

function isSame(left: string, right: string): boolean {
  return left === right || parseQuantity(left) === parseQuantity(right)
}
