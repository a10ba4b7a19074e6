import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { CephTrust } from '../../shared/ceph-trust/named-clusters.ts'
import { disruptionLedgers, ledgerName } from '../../shared/kinds/disruption-ledger.ts'
import { type Observed, unknown } from '../../shared/observed.ts'
import { type AppLockPolicy, defaultAppLockPolicy } from '../rules/app-lock.ts'
import type { DrainLockSettings } from '../rules/drain-lock-settings.ts'
import { defaultDrainLockSettings } from '../rules/drain-lock-settings.ts'
import { type PublishedSettings, parseSettings, settingsAnnotation } from '../rules/published-settings.ts'

export interface OperatorSettings {
  readonly drainLock: DrainLockSettings
  readonly appLocks: AppLockPolicy
  /** The CephClusters that the operator acts on; undefined where it has not said. */
  readonly trust: CephTrust | undefined
  /** How long remediation leaves a node alone that is rebooted; undefined where that is not known, or nobody sees to it. */
  readonly remediationWaitsMs: number | undefined
  /** Of the operator that published them; undefined where it has not said. */
  readonly version?: string
  /** Why these are the defaults, and not the operator's own. */
  readonly instead: string | undefined
}

/** What the operator judges by, so that the answer here is its answer. */
export async function observeSettings({
  api,
  signal,
}: {
  readonly api: Pick<KubeApi, 'get'>
  readonly signal: AbortSignal
}): Promise<OperatorSettings> {
  const settings = await published()
  if (!settings.known) {
    const instead = `${settings.why}; the defaults are taken`
    return {
      drainLock: defaultDrainLockSettings,
      appLocks: defaultAppLockPolicy,
      trust: undefined,
      remediationWaitsMs: undefined,
      instead,
    }
  }
  const { drainLock, appLocks, trust, version } = settings.value
  return {
    drainLock: { ...defaultDrainLockSettings, ...drainLock },
    appLocks,
    trust,
    remediationWaitsMs: drainLock.plannedOutageMs,
    ...(version !== undefined && { version }),
    instead: undefined,
  }

  async function published(): Promise<Observed<PublishedSettings>> {
    try {
      const { metadata } = await api.get(disruptionLedgers, { name: ledgerName }, { signal })
      return parseSettings(metadata.annotations?.[settingsAnnotation])
    } catch (error) {
      if (hasReason(error, 'NotFound')) return parseSettings(undefined)
      if (hasReason(error, 'Forbidden')) return unknown(error.message)
      throw error
    }
  }
}

/** Says once that the answer rests on the defaults. */
export function noteDefaults({ instead }: OperatorSettings, notSeen: string[]): void {
  const note = `settings of the operator: ${instead}`
  if (instead !== undefined && !notSeen.includes(note)) notSeen.push(note)
}
