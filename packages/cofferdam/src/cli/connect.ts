import type { ClusterConnection } from '@cofferdam/kubernetes/client/cluster-connection.ts'
import { createHttpKubeApi } from '@cofferdam/kubernetes/client/http-kube-api.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { loadKubeconfig } from '@cofferdam/kubernetes/client/load-kubeconfig.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { realRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import type { GlobalFlags } from './command.ts'
import { readServerVersion } from './read-server-version.ts'

export interface ClusterLink {
  readonly api: KubeApi
  /** The address of the API server, for people. */
  readonly server: string
  /** Where the kubeconfig is when no flag says so. */
  readonly namespace?: string
  /** For what goes around the API: commands in pods. */
  readonly connection?: ClusterConnection
  /**
   * The version of Kubernetes, as the server says it; undefined where it may not be asked. Absent for a cluster that has no address.
   *
   * @throws CofferdamError NOT_KUBERNETES
   */
  readonly serverVersion?: (signal: AbortSignal) => Promise<string | undefined>
  close(): Promise<void>
}

/** Opens the cluster that the global flags name; whoever opens it closes it. */
export type Connect = (flags: GlobalFlags) => Promise<ClusterLink>

export const connect: Connect = async ({ kubeconfig, context, as, asGroup = [], requestTimeout }) => {
  if (as === undefined && asGroup.length > 0) {
    throw new CofferdamError('USAGE', '--as-group impersonates a group of a user: say which user with --as')
  }
  const loaded = await loadKubeconfig({
    env: process.env,
    ...(kubeconfig === undefined ? {} : { path: kubeconfig }),
    ...(context === undefined ? {} : { context }),
  })
  const connection = as === undefined ? loaded : { ...loaded, impersonation: { user: as, groups: asGroup, extra: {} } }
  const api = createHttpKubeApi({
    config: connection,
    clock: realClock,
    random: realRandom,
    userAgent: 'cofferdam',
    interactive: process.stdin.isTTY === true,
    ...(requestTimeout === undefined ? {} : { requestTimeoutMs: requestTimeout === 0 ? noLimitMs : requestTimeout }),
  })
  const { server, namespace } = connection
  const serverVersion = (signal: AbortSignal) => readServerVersion(api, server, signal)
  return { api, server, namespace, connection, serverVersion, close: () => api.close() }
}

/** The longest time that a timer can have. */
const noLimitMs = 2 ** 31 - 1
