import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { observeSettings } from '../../ledger/store/observe-settings.ts'
import { observeOperator } from '../../observe/observe-operator.ts'
import type { OperatorStatus } from '../../shared/operator-status.ts'
import type { ClusterLink } from '../connect.ts'
import { type DefinitionState, observeDefinitions } from '../observe/observe-definitions.ts'

export interface Versions {
  /** Of this program. */
  readonly client: string
  /** The rest is left out with `--client`. */
  readonly cluster?: ClusterVersions
}

export interface ClusterVersions {
  readonly server: string
  /** Of Kubernetes; left out where the server has not said. */
  readonly kubernetes?: string
  readonly operator: OperatorStatus & {
    /** What the operator that leads, or led last, has published. */
    readonly version?: string
  }
  readonly definitions: readonly DefinitionState[]
  readonly observedAt: string
  readonly notSeen: readonly string[]
}

export async function observeVersions(
  { api, server, serverVersion }: ClusterLink,
  {
    clock,
    leaseNamespace,
    signal,
  }: { readonly clock: Clock; readonly leaseNamespace: string; readonly signal: AbortSignal },
): Promise<ClusterVersions> {
  const notSeen: string[] = []
  const now = timestamp(clock)
  // First, since what does not answer as Kubernetes has nothing else to say.
  const kubernetes = await serverVersion?.(signal)
  const [operator, settings, definitions] = await Promise.all([
    observeOperator({ api, leaseNamespace, now, signal }, notSeen),
    observeSettings({ api, signal }),
    observeDefinitions({ api, signal }, notSeen),
  ])
  return {
    server,
    ...(kubernetes === undefined ? {} : { kubernetes }),
    operator: { ...operator, ...(settings.version === undefined ? {} : { version: settings.version }) },
    definitions,
    observedAt: now,
    notSeen,
  }
}
