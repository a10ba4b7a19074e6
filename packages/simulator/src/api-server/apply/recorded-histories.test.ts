import { readFileSync } from 'node:fs'
import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { describe, expect, it } from 'vitest'
import { builtinSchema } from '../builtin/schemas.ts'
import type { Schema } from '../schema/schema.ts'
import { deepFreeze } from '../store/deep-freeze.ts'
import { serverSideApply } from './server-side-apply.ts'
import { trackUpdate } from './track-update.ts'

/** What the field manager of Kubernetes 1.36 made of random sequences of updates and applies, one history per line. */
interface History {
  readonly apiVersion: string
  readonly kind: string
  readonly steps: readonly Step[]
  readonly object: JsonObject
}

interface Step {
  readonly operation: 'apply' | 'update'
  readonly manager: string
  readonly force?: boolean
  readonly subresource?: string
  readonly object: JsonObject
  readonly owners?: readonly JsonObject[]
  readonly error?: string
}

const text = readFileSync(new URL('./recorded-histories.jsonl', import.meta.url), 'utf8')
const histories = text
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as History)

describe('histories recorded from the real field manager', () => {
  for (const [index, history] of histories.entries()) {
    it(`number ${index + 1}, of a ${history.kind}, ends every step with the same owners or the same refusal`, () => {
      let live: KubeObject | undefined
      for (const step of history.steps) {
        const outcome = replay(history, step, live)
        if (typeof outcome === 'string') expect(outcome).toBe(step.error)
        else expect(byName(ownersOf(outcome))).toEqual(byName(step.owners ?? []))
        if (typeof outcome !== 'string') live = outcome
      }
      expect(withoutZeros(live as unknown as JsonObject)).toEqual(history.object)
    })
  }
})

function replay({ apiVersion, kind }: History, step: Step, live: KubeObject | undefined): KubeObject | string {
  const schema = builtinSchema(apiVersion, kind) as Schema
  const { manager, subresource } = step
  const object = deepFreeze({ ...step.object })
  const write = { schema, manager, apiVersion, time: '2024-05-01T10:00:00Z', ...(subresource && { subresource }) }
  try {
    const outcome =
      step.operation === 'update'
        ? trackUpdate({ previous: live, next: object as unknown as KubeObject, ...write })
        : serverSideApply({ live, applied: object, force: step.force === true, ...write }).object
    return deepFreeze({ ...outcome, metadata: { ...outcome.metadata, uid: 'u' } })
  } catch (error) {
    return (error as Error).message
  }
}

function ownersOf(object: KubeObject): JsonObject[] {
  return (object.metadata.managedFields ?? []).map(({ manager, operation, fieldsV1, subresource }) => ({
    manager,
    operation,
    fieldsV1,
    ...(subresource === undefined ? {} : { subresource }),
  }))
}

/** The recording ran on a real clock, so only the set of entries can be compared, not their order. */
function byName(owners: readonly JsonObject[]): JsonObject {
  const name = ({ manager, operation, subresource }: JsonObject) => JSON.stringify([manager, operation, subresource])
  return Object.fromEntries(owners.map((owner) => [name(owner), owner]))
}

/** The real server writes out, or leaves out, what is empty as its types want it; that is not compared. */
function withoutZeros(value: Json): Json | undefined {
  if (Array.isArray(value)) {
    const items = (value as readonly Json[]).map(withoutZeros).filter((item) => item !== undefined)
    return items.length === 0 ? undefined : items
  }
  if (!isJsonObject(value)) return value === null || value === '' || value === 0 || value === false ? undefined : value
  const fields = Object.entries(value)
    .filter(([name]) => name !== 'managedFields')
    .map(([name, field]) => [name, field === undefined ? undefined : withoutZeros(field)] as const)
    .filter(([, field]) => field !== undefined)
  return fields.length === 0 ? undefined : Object.fromEntries(fields)
}
