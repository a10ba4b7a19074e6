import { ApiError, hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { HttpKubeApi } from '@cofferdam/kubernetes/client/http-kube-api.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'

/**
 * What `/version` answers; undefined where this user may not ask.
 *
 * @throws CofferdamError NOT_KUBERNETES
 */
export async function readServerVersion(
  api: Pick<HttpKubeApi, 'getRaw'>,
  server: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { gitVersion } = await api.getRaw('/version', { signal })
    if (typeof gitVersion === 'string' && gitVersion !== '') return gitVersion
    throw notKubernetes(server, 'its /version names no version of Kubernetes')
  } catch (error) {
    if (hasReason(error, 'Forbidden')) return undefined
    if (error instanceof ApiError && error.code === 404) throw notKubernetes(server, 'it has no /version')
    throw error
  }
}

export function notKubernetes(server: string, why: string): CofferdamError {
  return new CofferdamError('NOT_KUBERNETES', `${server} is not a Kubernetes API server: ${why}`, {
    facts: { server },
    hint: 'check the server address of the context with `kubectl config view --minify`, and choose another with --context or --kubeconfig',
  })
}
