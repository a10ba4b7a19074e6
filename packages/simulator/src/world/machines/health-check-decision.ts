import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { parseDuration } from '@cofferdam/kubernetes/api/duration.ts'
import { percentOf, scaledValue } from '@cofferdam/kubernetes/api/int-or-string.ts'
import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { Machine, MachineHealthCheck } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { isTerminating } from '../pod-facts.ts'
import { parseSicknesses, type Sickness, sickAtMs } from './sick-nodes.ts'

/** A machine that the health check manages. */
export interface Target {
  readonly machine: Machine
  readonly node: Node | undefined
}

export interface HealthCheckDecision {
  readonly expectedMachines: number
  readonly currentHealthy: number
  readonly remediationsAllowed: number
  readonly isAllowed: boolean
  /** All that have been sick for long enough, whether allowed or not. */
  readonly sick: readonly Target[]
  readonly recheckAtMs: number | undefined
}

const startupMs = 600_000

/**
 * What a health check of today makes of its machines. `maxUnhealthy` is a switch for all, not a limit: when so many or fewer are
 * not well, every machine that is sick for long enough goes, all in the same pass.
 */
export function decideHealthCheck(
  check: MachineHealthCheck,
  targets: readonly Target[],
  nowMs: number,
): HealthCheckDecision {
  const { sicknesses, maxUnhealthy, nodeStartupMs } = settingsOf(check)
  const sick: Target[] = []
  const later: number[] = []
  let currentHealthy = 0
  for (const target of targets) {
    const dueMs = dueAtMs(target, sicknesses, nodeStartupMs)
    if (dueMs === undefined) {
      if (target.node !== undefined) currentHealthy += 1
    } else if (dueMs > nowMs) later.push(dueMs)
    else if (!isTerminating(target.machine)) sick.push(target)
  }
  const expectedMachines = targets.length
  const limit = scaledValue(maxUnhealthy, expectedMachines, 'down')
  const unhealthy = expectedMachines - currentHealthy
  return {
    expectedMachines,
    currentHealthy,
    remediationsAllowed: Math.max(0, limit - unhealthy),
    isAllowed: unhealthy <= limit,
    sick,
    recheckAtMs: later.length === 0 ? undefined : Math.min(...later),
  }
}

function dueAtMs({ machine, node }: Target, sicknesses: readonly Sickness[], nodeStartupMs: number) {
  if (node !== undefined) return sickAtMs(node, sicknesses)
  // It had a node that somebody deleted.
  if (machine.status?.nodeRef !== undefined) return 0
  return (parseRfc3339(machine.metadata.creationTimestamp ?? '') ?? 0) + nodeStartupMs
}

interface Settings {
  readonly sicknesses: readonly Sickness[]
  readonly maxUnhealthy: number | string
  readonly nodeStartupMs: number
}

/** The newest version of Cluster API has the same settings elsewhere, with seconds for durations. */
function settingsOf({ spec }: MachineHealthCheck): Settings {
  const fields = (spec ?? {}) as JsonObject
  const checks = isJsonObject(fields['checks']) ? fields['checks'] : {}
  const remediation = isJsonObject(fields['remediation']) ? fields['remediation'] : {}
  const trigger = isJsonObject(remediation['triggerIf']) ? remediation['triggerIf'] : {}
  const limit = spec?.maxUnhealthy ?? trigger['unhealthyLessThanOrEqualTo']
  const startupSeconds = checks['nodeStartupTimeoutSeconds']
  const newer = Array.isArray(checks['unhealthyNodeConditions']) ? checks['unhealthyNodeConditions'] : []
  const sicknesses = newer.filter(isJsonObject).map(({ type, status, timeoutSeconds }) => ({
    type: textOf(type),
    status: textOf(status),
    lastsMs: (typeof timeoutSeconds === 'number' ? timeoutSeconds : 300) * 1_000,
  }))
  return {
    sicknesses: sicknesses.length > 0 ? sicknesses : parseSicknesses(spec?.unhealthyConditions),
    maxUnhealthy: limit === undefined ? '100%' : isLimit(limit) ? limit : 0,
    nodeStartupMs:
      typeof startupSeconds === 'number'
        ? startupSeconds * 1_000
        : (parseDuration(spec?.nodeStartupTimeout ?? '') ?? startupMs),
  }
}

/** A limit that makes no sense is none that allows anything. */
function isLimit(value: Json): value is number | string {
  return typeof value === 'number' || (typeof value === 'string' && percentOf(value) !== undefined)
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}
