import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type ClusterName, nameOf } from '../../../shared/ceph-trust/named-clusters.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { Performers, StepOutcome } from '../../interpreter.ts'
import type { OsdUuids } from '../domain/growth-snapshot.ts'
import type { GrowthStep, GrowthWrite } from '../domain/growth-steps.ts'
import type { GrowthPass } from '../observe/growth-pass.ts'
import type { OsdGrowthReporter } from '../report/growth.ts'
import { deleteJob, deleteStatus, markUsed, outcomeOf, startPrepare } from './growth.ts'

export interface PerformGrowthPorts {
  readonly api: KubeApi
  /** A unique token. */
  newNonce(): string
  observeOsdUuids(cluster: ClusterName, signal: AbortSignal): Promise<Observed<OsdUuids>>
}

/** How many objects are written at a time; a change of the cluster counts after each such group. */
const groupSize = 20

/** Who performs the steps of one pass over the growth of a cluster. */
export function performGrowth(
  { api, newNonce, observeOsdUuids }: PerformGrowthPorts,
  { key, pass, reporter }: { readonly key: string; readonly pass: GrowthPass; readonly reporter: OsdGrowthReporter },
  signal: AbortSignal,
): Performers<GrowthStep> {
  return {
    async ask(): Promise<StepOutcome> {
      pass.hearUuids(await observeOsdUuids(nameOf(pass.cluster), signal))
      return 'learned'
    },
    async write(step): Promise<StepOutcome> {
      pass.hear(await writeAll(step))
      return 'learned'
    },
    async report({ report }): Promise<StepOutcome> {
      await reporter.report(key, pass.cluster, report)
      return 'done'
    },
  }

  async function writeAll(step: GrowthWrite): Promise<Parameters<GrowthPass['hear']>[0]> {
    switch (step.write) {
      case 'osds':
        return {
          made: await inGroups(step.osds, async ({ osd, place, deployment }) => {
            return { osd, place, outcome: await outcomeOf(() => api.create(deployments, deployment, { signal })) }
          }),
        }
      case 'used':
        return { marked: await inGroups(step.used, (used) => markUsed(api, used, signal)) }
      case 'prepares':
        return {
          begun: await inGroups(step.prepares, async (start) => {
            const outcome = await startPrepare(api, { ...start, nonce: newNonce() }, signal)
            return { place: start.place.name, outcome }
          }),
        }
      case 'removals': {
        const jobs = step.jobs.map((job) => () => deleteJob(api, job, signal))
        const statuses = step.statuses.map((status) => () => deleteStatus(api, status, signal))
        return { swept: await inGroups([...jobs, ...statuses], (remove) => remove()) }
      }
    }
  }

  /** Ends early when the decision is void: the change that made it so has asked for another reconcile. */
  async function inGroups<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
    const results: R[] = []
    for (let at = 0; at < items.length && !pass.isVoid() && !signal.aborted; at += groupSize) {
      results.push(...(await Promise.all(items.slice(at, at + groupSize).map(work))))
    }
    return results
  }
}
