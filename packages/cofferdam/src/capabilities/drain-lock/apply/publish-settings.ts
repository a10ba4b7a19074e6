import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type PublishedSettings, settingsAnnotation, settingsText } from '../../../ledger/rules/published-settings.ts'
import { type DisruptionLedger, disruptionLedgers, ledgerName } from '../../../shared/kinds/disruption-ledger.ts'
import type { Permission } from '../../../shared/permission.ts'

export const publishSettingsPermissions: readonly Permission[] = [
  { group: 'cofferdam.io', resource: 'disruptionledgers', names: [ledgerName], verbs: ['patch'] },
]

export function isPublished(settings: PublishedSettings, ledger: DisruptionLedger | undefined): boolean {
  return ledger?.metadata.annotations?.[settingsAnnotation] === settingsText(settings)
}

/** Writes on the ledger what this operator judges by, unless it is there already; makes the ledger where there is none. */
export async function publishSettings(
  { api, settings, ledger }: PublishSettingsPorts,
  signal: AbortSignal,
): Promise<{ readonly recheckAfterSeconds: number } | undefined> {
  if (isPublished(settings, ledger)) return undefined
  const annotations = { [settingsAnnotation]: settingsText(settings) }
  try {
    if (ledger === undefined) {
      const metadata = { name: ledgerName, annotations }
      const object = { apiVersion: apiVersionOf(disruptionLedgers), kind: disruptionLedgers.kind, metadata }
      await api.create(disruptionLedgers, object, { signal })
    } else {
      const patch = { type: 'merge', body: { metadata: { annotations } } } as const
      await api.patch(disruptionLedgers, { name: ledgerName }, patch, { signal })
    }
    return undefined
  } catch (error) {
    // Made or deleted in between, or the kind is not there yet.
    if (hasReason(error, 'AlreadyExists', 'NotFound')) return { recheckAfterSeconds: 30 }
    throw error
  }
}

interface PublishSettingsPorts {
  readonly api: Pick<KubeApi, 'create' | 'patch'>
  readonly settings: PublishedSettings
  readonly ledger: DisruptionLedger | undefined
}
