import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import { isJsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { doNotReconcile } from './pace-label.ts'

/** Rook reconciles a CephCluster when the data of this ConfigMap changes; only its key `config` reaches daemons. */
export const overrideName = 'rook-config-override'
/** The key of ours in it: which pass was asked for. */
export const passKey = 'cofferdam-pace'

/** What Rook says of itself, read anew: whatever was written before this reading counts for every pass that begins after it. */
export interface RookPass {
  /** `passing`: it works on this cluster now, and may have read labels as they were before. */
  readonly state: 'resting' | 'passing'
  /** Why the last pass ended early. */
  readonly failure?: string
  /** The last pass failed, but after it had gone through all OSDs. */
  readonly hasFinishedOsds?: true
  /** Rook has seen the CephCluster as it is, or does not say. */
  readonly isUpToDate: boolean
  /** Which pass was asked for last. */
  readonly asked: string | undefined
  /** Why Rook cannot be asked for a pass. */
  readonly problem?: string
}

/** What Rook says when the pass went through all OSDs and some of them failed. */
const osdFailures = /failures encountered while running osds/
/** Both keep Rook from the whole cluster. */
const stoppingLabels = [doNotReconcile, 'do_not_reconcile']

/**
 * How Rook is with a cluster, by the conditions that it writes: `Progressing` is true from the begin of a pass to its end; after a
 * success it is gone, after a failure it is false.
 */
export function parseRookPass(cluster: CephCluster, overrides: ConfigMap | undefined): RookPass {
  const { status, metadata } = cluster as CephCluster & { readonly status?: { readonly [field: string]: unknown } }
  const list = Array.isArray(status?.['conditions']) ? status['conditions'].filter(isJsonObject) : []
  const progressing = list.find(({ type }) => type === 'Progressing')
  const said = progressing?.['message']
  const message = typeof said === 'string' ? said : ''
  const observed = status?.['observedGeneration']
  const hasFailed = progressing !== undefined && progressing['status'] === 'False'
  const label = stoppingLabels.find((each) => metadata.labels?.[each] !== undefined)
  const problem =
    overrides === undefined
      ? `ConfigMap ${overrideName}, which Rook creates, is missing`
      : label === undefined
        ? undefined
        : `the CephCluster has the label ${label}, so Rook does not reconcile it`
  return {
    state: progressing !== undefined && progressing['status'] === 'True' ? 'passing' : 'resting',
    ...(hasFailed && { failure: message }),
    ...(hasFailed && osdFailures.test(message) && { hasFinishedOsds: true as const }),
    isUpToDate: typeof observed !== 'number' || observed === (metadata.generation ?? observed),
    asked: overrides?.data?.[passKey],
    ...(problem !== undefined && { problem }),
  }
}

/** Rook's operator, as its Deployment says. `unseen`: there is none that can be seen, which says nothing. */
export interface RookOperator {
  readonly state: 'running' | 'stopped' | 'unseen'
  /** Another one makes other Deployments of the same CephCluster. */
  readonly images: readonly string[]
}
