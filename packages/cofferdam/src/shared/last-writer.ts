import { isJsonObject, type Json } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'

export interface Writer {
  readonly manager?: string
  readonly time?: string
}

/** Who wrote a field last, as far as the object's managed fields say: `['spec', 'unschedulable']`. */
export function lastWriterOf({ metadata }: KubeObject, path: readonly string[]): Writer {
  const entries = (metadata.managedFields ?? []).filter(({ fieldsV1 }) => owns(fieldsV1, path))
  const latest = entries.toSorted((a, b) => compareText(b.time ?? '', a.time ?? ''))[0]
  return {
    ...(latest?.manager === undefined ? {} : { manager: latest.manager }),
    ...(latest?.time === undefined ? {} : { time: latest.time }),
  }
}

function owns(fields: Json | undefined, path: readonly string[]): boolean {
  let at = fields
  for (const name of path) {
    if (!isJsonObject(at) || !Object.hasOwn(at, `f:${name}`)) return false
    at = at[`f:${name}`]
  }
  return true
}

/** By code points, the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
