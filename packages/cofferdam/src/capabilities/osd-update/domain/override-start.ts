import { assumeDown } from './assume-down.ts'
import type { ChosenStarts } from './chosen-starts.ts'
import type { CephForUpdate, OsdUpdateSnapshot, UpdateRecord, UsedOverrides } from './snapshot.ts'
import { type SortedOsds, upOsds } from './sort-osds.ts'
import { harmOfStops, harmText, leastHarm } from './stop-harm.ts'
import { overrideInForce, type UpdateOverride } from './update-override.ts'
import { withinBudgets } from './within-budgets.ts'

/** Recovery after a restart ends most refusals by itself: so long it is waited for before one is overridden. */
export const overridePatienceMs = 60_000

/**
 * What starts where a setting overrides the checks, as in Rook: with `skipUpgradeChecks` one OSD after the other, safe or not; with
 * `continueUpgradeAfterChecksEvenIfNotHealthy` one alone, where nothing can start otherwise.
 *
 * Guarantees: never two OSDs at once that data needs, and nothing beside one that was started so; of all that could go, the one that
 * takes least away. While recovery may still end what hinders, it is waited for a minute.
 * Assumes: no gate is closed.
 */
export function overrideStarts(given: {
  readonly snapshot: OsdUpdateSnapshot
  readonly seen: CephForUpdate
  readonly sorted: SortedOsds
  readonly running: readonly number[]
  readonly record: UpdateRecord
  readonly chosen: ChosenStarts
}): ChosenStarts {
  const { snapshot, seen, sorted, running, record, chosen } = given
  const { settings } = snapshot.cluster
  const by = overrideInForce(settings)
  if (by === undefined) return isOverrideRunning(record, running) ? { ...chosen, start: [] } : chosen
  const up = upOsds(seen)
  const isAgain = new Set(sorted.again.map(({ id }) => id))
  // Those that are down or restarting anyway take nothing away.
  const harmless = chosen.start.filter((id) => !up.has(id) || isAgain.has(id))
  const wereDown = new Set(record.wereDown)
  const isBusy = running.some((id) => !wereDown.has(id))
  if (isBusy && (by === 'skipUpgradeChecks' || isOverrideRunning(record, running)))
    return { ...chosen, start: harmless }
  const isUndecided = [chosen.ask, chosen.silence, chosen.doubt, chosen.disagreement].some((one) => one !== undefined)
  if (by !== 'skipUpgradeChecks' && (chosen.start.length > 0 || isBusy || isUndecided)) return chosen
  const one = leastHarmful(snapshot, seen, sorted)
  if (one === undefined) return { ...withoutQuestion(chosen), start: harmless }
  const isFree = one.belowFloor === 0 && by === 'skipUpgradeChecks'
  if (!isFree && isRecovering(snapshot, seen, record))
    return { ...withoutQuestion(chosen), start: harmless, waits: waitText }
  return {
    ...withoutQuestion(chosen),
    start: [...new Set([...harmless, one.osd])].sort((a, b) => a - b),
    blocked: chosen.blocked.filter(({ osd }) => osd !== one.osd),
    ...(!isFree && { override: { osd: one.osd, by, harm: harmText(one) } }),
  }
}

/** What is remembered of it, before it starts. */
export function withOverride(
  { overrides }: UpdateRecord,
  { osd, by, harm }: UpdateOverride,
  nowMs: number,
): UsedOverrides {
  return { count: (overrides?.count ?? 0) + 1, last: { osd, why: `${by}: ${harm}`, atMs: nowMs } }
}

const waitText = 'the checks are overridden when recovery has had a minute'

function isOverrideRunning({ overrides }: UpdateRecord, running: readonly number[]): boolean {
  return overrides !== undefined && running.includes(overrides.last.osd)
}

function leastHarmful({ cluster, osds }: OsdUpdateSnapshot, seen: CephForUpdate, { pending, away }: SortedOsds) {
  const up = upOsds(seen)
  const free = pending.filter(({ held, id, isPodReady }) => held === undefined && up.has(id) && isPodReady)
  const candidates = free.map(({ id }) => id).filter((id) => withinBudgets([id], osds).length > 0)
  const unready = osds.filter(({ isPodReady }) => !isPodReady).map(({ id }) => id)
  const gone = new Set([...away.map(({ id }) => id), ...unready])
  return leastHarm(harmOfStops(assumeDown(seen.map, gone), candidates, cluster.settings.reserve))
}

function isRecovering(
  { nowMs }: OsdUpdateSnapshot,
  { isClean }: CephForUpdate,
  { lastEndedMs }: UpdateRecord,
): boolean {
  if (isClean.known && isClean.value) return false
  return lastEndedMs !== undefined && nowMs - lastEndedMs < overridePatienceMs
}

function withoutQuestion(planned: ChosenStarts): ChosenStarts {
  const { ask: _, ...chosen } = planned
  return chosen
}
