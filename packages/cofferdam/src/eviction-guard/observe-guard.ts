import { validatingWebhookConfigurations } from '@cofferdam/kubernetes/api/admission-registration.ts'
import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { guardConfigurationName } from './domain/webhook-configuration.ts'

/** Whether evictions are asked of the guard; undefined where that may not be read. */
export async function observeGuard({
  api,
  signal,
}: {
  readonly api: Pick<KubeApi, 'get'>
  readonly signal: AbortSignal
}): Promise<boolean | undefined> {
  try {
    await api.get(validatingWebhookConfigurations, { name: guardConfigurationName }, { signal })
    return true
  } catch (error) {
    if (hasReason(error, 'NotFound')) return false
    if (hasReason(error, 'Forbidden')) return undefined
    throw error
  }
}
