import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'

/** What is remembered of the pace, in the record of the update. */
export interface PaceState {
  /** What Rook makes OSD Deployments of, as far as it can be seen. When it changes, Rook may want to change any OSD. */
  readonly key: string
  /** OSDs that no whole pass of Rook has been open to since the key changed. */
  readonly pending: readonly number[]
  /** OSDs that Rook may change now: the round at hand. */
  readonly open: readonly OpenOsd[]
  /** The pass of Rook that was asked for after the round was opened. */
  readonly pass?: AskedPass
  /** After Rook did not react: no round is opened before. */
  readonly notBeforeMs?: number
  /** How many rounds were opened since the key changed. */
  readonly rounds: number
}

export interface OpenOsd {
  readonly osd: number
  readonly atMs: number
  /** Generation of its Deployment when it was opened: another one says that Rook has changed it. */
  readonly generation: number
  /** When it was first seen that Rook has changed it. */
  readonly touchedMs?: number
}

export interface AskedPass {
  readonly atMs: number
  /** It has begun. */
  readonly isSeen?: true
}

export function formatPace({ key, pending, open, pass, notBeforeMs, rounds }: PaceState): JsonObject {
  return {
    key,
    ...(pending.length > 0 && { pending: [...pending] }),
    ...(open.length > 0 && {
      open: open.map(({ osd, atMs, generation, touchedMs }) => [
        osd,
        atMs,
        generation,
        ...(touchedMs === undefined ? [] : [touchedMs]),
      ]),
    }),
    ...(pass !== undefined && { pass: { atMs: pass.atMs, ...(pass.isSeen && { isSeen: true }) } }),
    ...(notBeforeMs !== undefined && { notBeforeMs }),
    rounds,
  }
}

export function isPace(value: Json | undefined): boolean {
  if (!isJsonObject(value)) return false
  const { key, pending = [], open = [], pass, notBeforeMs = 0, rounds } = value
  const isPass = pass === undefined || (isJsonObject(pass) && isCount(pass['atMs']))
  const areOpen =
    Array.isArray(open) && open.every((one) => Array.isArray(one) && one.length >= 3 && one.every(isCount))
  const arePending = Array.isArray(pending) && pending.every(isCount)
  return typeof key === 'string' && arePending && areOpen && isPass && isCount(notBeforeMs) && isCount(rounds)
}

/** Assumes: `isPace` says yes. */
export function parsePace(value: JsonObject): PaceState {
  const { pending, open, pass, notBeforeMs } = value
  const asked = pass as JsonObject | undefined
  return {
    key: value['key'] as string,
    pending: (pending ?? []) as readonly number[],
    open: ((open ?? []) as readonly (readonly number[])[]).map(([osd = 0, atMs = 0, generation = 0, touchedMs]) => ({
      osd,
      atMs,
      generation,
      ...(touchedMs !== undefined && { touchedMs }),
    })),
    ...(asked !== undefined && {
      pass: { atMs: asked['atMs'] as number, ...(asked['isSeen'] === true && { isSeen: true as const }) },
    }),
    ...(notBeforeMs !== undefined && { notBeforeMs: notBeforeMs as number }),
    rounds: value['rounds'] as number,
  }
}

function isCount(value: Json | undefined): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
