import { isJsonObject, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import {
  allowedParallelLimits,
  defaultParallelLimit,
  type ParallelLimit,
  parseParallelLimit,
} from './parallel-limit.ts'

export const updateAnnotations = {
  maxInParallel: 'cofferdam.io/update-max-in-parallel',
  order: 'cofferdam.io/update-order',
  pace: 'cofferdam.io/update-pace',
  soakSeconds: 'cofferdam.io/update-soak-seconds',
  reserve: 'cofferdam.io/update-reserve',
  canary: 'cofferdam.io/update-canary',
  deadlineSeconds: 'cofferdam.io/update-deadline-seconds',
  strategy: 'cofferdam.io/update-strategy',
  cephVersion: 'cofferdam.io/update-ceph-version',
  monsFirst: 'cofferdam.io/update-mons-first',
} as const

export const updateOrders = ['fewest-rounds', 'by-domain'] as const
export const updatePaces = ['rolling', 'barrier'] as const
export const updateStrategies = ['plan', 'ok-to-stop', 'ok-to-upgrade'] as const

export interface UpdateSettings {
  readonly maxInParallel: ParallelLimit
  /** As Rook itself would read it, which has 20 where nothing is said. */
  readonly rookMaxInParallel?: number
  /** Do not check the health of Ceph before an upgrade. */
  readonly skipUpgradeChecks: boolean
  readonly continueUpgradeAfterChecksEvenIfNotHealthy: boolean
  readonly removeIfOutAndSafeToDestroy: boolean
  /** Before each batch all placement groups must be clean. */
  readonly requiresHealthyPgs: boolean
  readonly order: (typeof updateOrders)[number]
  /** `rolling`: what is back makes room at once; `barrier`: a round ends before the next begins. */
  readonly pace: (typeof updatePaces)[number]
  /** How long what was updated is watched before the next ones. */
  readonly soakSeconds: number
  /** How many copies beyond min_size every placement group keeps. */
  readonly reserve: number
  /** The first rounds have one OSD, two, four and so on. */
  readonly canary: boolean
  /** An OSD that is not back by then stops the update. */
  readonly deadlineSeconds: number
  /**
   * Who chooses a batch: `plan`: we do, and Ceph is asked about it; the others: Ceph does, and our own reckoning is asked about it,
   * one batch after the other.
   */
  readonly strategy: (typeof updateStrategies)[number]
  /** No OSD gets another image before the mons and mgrs have it. */
  readonly monsFirst: boolean
  /** For `ok-to-upgrade`: what updated OSDs report to run. By default those that are updated already say it. */
  readonly cephVersion?: string
}

export const defaultUpdateSettings: UpdateSettings = {
  maxInParallel: defaultParallelLimit,
  skipUpgradeChecks: false,
  continueUpgradeAfterChecksEvenIfNotHealthy: false,
  removeIfOutAndSafeToDestroy: false,
  requiresHealthyPgs: false,
  order: 'fewest-rounds',
  pace: 'rolling',
  soakSeconds: 0,
  reserve: 0,
  canary: false,
  deadlineSeconds: 600,
  strategy: 'plan',
  monsFirst: true,
}

export interface SettingProblem {
  /** `spec.updatePolicy.osds.maxInParallelPerCluster`, `annotation cofferdam.io/update-order` */
  readonly field: string
  readonly problem: string
}

export interface DeprecatedSetting {
  readonly field: string
  readonly instead: string
}

export interface ParsedUpdateSettings {
  readonly settings: UpdateSettings
  /** What was refused. While there is any, nothing of the new configuration is in force. */
  readonly problems: readonly SettingProblem[]
  readonly deprecated: readonly DeprecatedSetting[]
}

const mostSeconds = 86_400
const mostReserve = 16

/**
 * How the OSDs of a CephCluster are to be updated.
 *
 * Guarantees: with one value refused, all of `lastGood` stays in force.
 * Fails closed: where there is no last good configuration, defaults stand in for what was refused, but for the number of OSDs
 * in parallel: a limit that cannot be read lets one at a time.
 */
export function parseUpdateSettings(cluster: CephCluster, lastGood?: UpdateSettings): ParsedUpdateSettings {
  const reader = new SettingsReader(cluster)
  const { spec } = reader
  const policy = reader.section(spec, 'spec', 'updatePolicy')
  const osds = reader.section(policy, 'spec.updatePolicy', 'osds')
  const storage = reader.section(spec, 'spec', 'storage')
  const usual = defaultUpdateSettings

  const rookMax = reader.read(storage['osdMaxUpdatesInParallel'], {
    field: 'spec.storage.osdMaxUpdatesInParallel',
    allowed: 'a whole number of at least 1',
    parse: (value) => (Number.isSafeInteger(value) && (value as number) >= 1 ? (value as number) : undefined),
  })
  const maxInParallel =
    reader.read(osds['maxInParallelPerCluster'], {
      field: 'spec.updatePolicy.osds.maxInParallelPerCluster',
      allowed: allowedParallelLimits,
      parse: parseParallelLimit,
    }) ??
    reader.note(updateAnnotations.maxInParallel, allowedParallelLimits, (text) =>
      parseParallelLimit(/^\d{1,9}$/.test(text) ? Number(text) : text),
    ) ??
    (rookMax === undefined ? undefined : { kind: 'count' as const, count: rookMax })
  const cephVersion = reader.note(updateAnnotations.cephVersion, 'a version as `ceph osd metadata` has it', (text) =>
    /^\d[\w.+-]{0,99}$/.test(text) ? text : undefined,
  )
  const settings: UpdateSettings = {
    maxInParallel: maxInParallel ?? usual.maxInParallel,
    ...(rookMax === undefined ? {} : { rookMaxInParallel: rookMax }),
    skipUpgradeChecks: reader.movedFlag('skipUpgradeChecks', policy, 'spec.updatePolicy.skipUpgradeChecks'),
    continueUpgradeAfterChecksEvenIfNotHealthy: reader.movedFlag(
      'continueUpgradeAfterChecksEvenIfNotHealthy',
      policy,
      'spec.updatePolicy.continueUpgradeAfterChecksEvenIfNotHealthy',
    ),
    removeIfOutAndSafeToDestroy: reader.movedFlag(
      'removeOSDsIfOutAndSafeToRemove',
      osds,
      'spec.updatePolicy.osds.removeIfOutAndSafeToDestroy',
    ),
    requiresHealthyPgs:
      reader.flag(spec['upgradeOSDRequiresHealthyPGs'], 'spec.upgradeOSDRequiresHealthyPGs') ??
      usual.requiresHealthyPgs,
    order: reader.noteOf(updateAnnotations.order, updateOrders) ?? usual.order,
    pace: reader.noteOf(updateAnnotations.pace, updatePaces) ?? usual.pace,
    soakSeconds: reader.noteNumber(updateAnnotations.soakSeconds, 0, mostSeconds) ?? usual.soakSeconds,
    reserve: reader.noteNumber(updateAnnotations.reserve, 0, mostReserve) ?? usual.reserve,
    canary: (reader.noteOf(updateAnnotations.canary, ['true', 'false']) ?? String(usual.canary)) === 'true',
    deadlineSeconds: reader.noteNumber(updateAnnotations.deadlineSeconds, 1, mostSeconds) ?? usual.deadlineSeconds,
    strategy: reader.noteOf(updateAnnotations.strategy, updateStrategies) ?? usual.strategy,
    monsFirst: (reader.noteOf(updateAnnotations.monsFirst, ['true', 'false']) ?? String(usual.monsFirst)) === 'true',
    ...(cephVersion !== undefined && { cephVersion }),
  }
  const { problems, deprecated } = reader
  if (problems.length === 0) return { settings, problems, deprecated }
  if (lastGood !== undefined) return { settings: lastGood, problems, deprecated }
  const isLimitRefused = problems.some(({ field }) => limitFields.includes(field))
  return {
    settings: isLimitRefused ? { ...settings, maxInParallel: { kind: 'count', count: 1 } } : settings,
    problems,
    deprecated,
  }
}

const limitFields: readonly string[] = [
  'spec.updatePolicy',
  'spec.updatePolicy.osds',
  'spec.updatePolicy.osds.maxInParallelPerCluster',
  'spec.storage',
  'spec.storage.osdMaxUpdatesInParallel',
  `annotation ${updateAnnotations.maxInParallel}`,
]

/** Reads one value after the other and keeps what was refused, or found in an old place. */
class SettingsReader {
  readonly problems: SettingProblem[] = []
  readonly deprecated: DeprecatedSetting[] = []
  readonly spec: JsonObject
  readonly #notes: Readonly<Record<string, unknown>>

  constructor(cluster: CephCluster) {
    const { annotations = {} } = cluster.metadata
    this.#notes = annotations
    this.spec = this.section(cluster as unknown as JsonObject, '', 'spec')
  }

  section(parent: JsonObject, path: string, name: string): JsonObject {
    const value: unknown = parent[name]
    const field = path === '' ? name : `${path}.${name}`
    const parse = (given: unknown) => (isJsonObject(given) ? given : undefined)
    return this.read(value, { field, allowed: 'an object', parse }) ?? {}
  }

  /** The value, or nothing where there is none or where it is refused. */
  read<T>(
    value: unknown,
    {
      field,
      allowed,
      parse,
    }: {
      readonly field: string
      readonly allowed: string
      readonly parse: (value: unknown) => T | undefined
    },
  ): T | undefined {
    if (value === undefined || value === null) return undefined
    const parsed = parse(value)
    if (parsed === undefined) {
      this.problems.push({ field, problem: `${JSON.stringify(value)} is refused; allowed is ${allowed}` })
    }
    return parsed
  }

  flag(value: unknown, field: string): boolean | undefined {
    const parse = (given: unknown) => (typeof given === 'boolean' ? given : undefined)
    return this.read(value, { field, allowed: 'true or false', parse })
  }

  /** A flag that has a new place, which wins over the old one. */
  movedFlag(oldName: string, section: JsonObject, newField: string): boolean {
    const oldField = `spec.${oldName}`
    const old = this.spec[oldName]
    if (old !== undefined && old !== null) this.deprecated.push({ field: oldField, instead: newField })
    const value = section[newField.slice(newField.lastIndexOf('.') + 1)] ?? undefined
    return (value === undefined ? this.flag(old, oldField) : this.flag(value, newField)) ?? false
  }

  note<T>(name: string, allowed: string, parse: (text: string) => T | undefined): T | undefined {
    return this.read(this.#notes[name], {
      field: `annotation ${name}`,
      allowed,
      parse: (value) => (typeof value === 'string' ? parse(value) : undefined),
    })
  }

  noteOf<T extends string>(name: string, choices: readonly T[]): T | undefined {
    return this.note(name, choices.map((choice) => `"${choice}"`).join(' or '), (text) =>
      choices.find((choice) => choice === text),
    )
  }

  noteNumber(name: string, from: number, to: number): number | undefined {
    return this.note(name, `a whole number from ${from} to ${to}`, (text) => {
      const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
      return number >= from && number <= to ? number : undefined
    })
  }
}
