import type { Container, PodSpec } from '@cofferdam/kubernetes/api/core.ts'
import { quantityNumber } from '@cofferdam/kubernetes/api/quantity.ts'

/** Amounts by resource name: cores, bytes, counts. */
export type Amounts = ReadonlyMap<string, number>

const quantities = new Map<string, number>()
const requests = new WeakMap<PodSpec, Amounts>()

function amountOf(text: string): number {
  let amount = quantities.get(text)
  if (amount === undefined) {
    amount = quantityNumber(text)
    if (quantities.size < 10_000) quantities.set(text, amount)
  }
  return amount
}

export function amountsOf(quantitiesByName: Readonly<Record<string, string>> = {}): Amounts {
  return new Map(Object.entries(quantitiesByName).map(([name, text]) => [name, amountOf(text)]))
}

/** What a pod asks for: all containers together, or the hungriest init container when that is more. */
export function podRequests(spec: PodSpec): Amounts {
  let amounts = requests.get(spec)
  if (amounts === undefined) {
    const total = new Map<string, number>()
    for (const container of spec.containers) {
      for (const [name, amount] of containerRequests(container)) total.set(name, (total.get(name) ?? 0) + amount)
    }
    for (const container of spec.initContainers ?? []) {
      for (const [name, amount] of containerRequests(container)) {
        total.set(name, Math.max(total.get(name) ?? 0, amount))
      }
    }
    amounts = total
    requests.set(spec, amounts)
  }
  return amounts
}

function containerRequests({ resources }: Container): Amounts {
  return amountsOf({ ...resources?.limits, ...resources?.requests })
}
