import type { Job } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import type { PlanContainer, UpgradePlan } from '@cofferdam/kubernetes/api/kinds/system-upgrade.ts'

export const planLabel = 'upgrade.cattle.io/plan'
export const nodeLabel = 'upgrade.cattle.io/node'
export const controllerLabel = 'upgrade.cattle.io/controller'
const hostname = 'kubernetes.io/hostname'
const defaultDeadlineSeconds = 600
const longestName = 63

/** On a node: the hash of the Plan that was applied to it last. */
export function appliedLabel({ metadata }: UpgradePlan): string {
  return `plan.upgrade.cattle.io/${metadata.name}`
}

/** The Job that applies a Plan to a node. It is made with no pod, and gets one when the Plan says that the node is in turn. */
export function buildUpgradeJob(plan: UpgradePlan, node: Node, parallelism: 0 | 1): Job {
  const { metadata, spec, status = {} } = plan
  const { latestHash = '', latestVersion = '' } = status
  const copied = (all: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(all).filter(([key]) => !/cattle\.io\/|kubectl\.kubernetes\.io\//.test(key)))
  const labels = {
    ...copied(metadata.labels),
    [controllerLabel]: 'system-upgrade-controller',
    [nodeLabel]: node.metadata.name,
    [planLabel]: metadata.name,
    'upgrade.cattle.io/version': latestVersion,
    [appliedLabel(plan)]: latestHash,
  }
  const deadline = spec.jobActiveDeadlineSecs ?? defaultDeadlineSeconds
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `apply-${metadata.name}-on-${node.metadata.name}-with-${latestHash}`.slice(0, longestName),
      namespace: metadata.namespace ?? 'default',
      annotations: copied(metadata.annotations),
      labels,
    },
    spec: {
      backoffLimit: 2,
      ttlSecondsAfterFinished: 900,
      completions: 1,
      parallelism,
      ...(deadline > 0 ? { activeDeadlineSeconds: deadline } : {}),
      template: {
        metadata: { annotations: copied(metadata.annotations), labels },
        spec: {
          restartPolicy: 'Never' as const,
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [
                  { matchExpressions: [{ key: hostname, operator: 'In' as const, values: [hostnameOf(node)] }] },
                ],
              },
            },
          },
          tolerations: [
            { key: 'node.kubernetes.io/unschedulable', operator: 'Exists' as const, effect: 'NoSchedule' as const },
            ...(spec.tolerations ?? []),
          ],
          initContainers: initContainers(plan),
          containers: [built('upgrade', spec.upgrade, plan)],
        },
      },
    },
  }
  return job
}

export function hostnameOf({ metadata }: Node): string {
  return metadata.labels?.[hostname] ?? metadata.name
}

/** First it prepares, then it cordons or drains. */
function initContainers(plan: UpgradePlan) {
  const { prepare, cordon, drain } = plan.spec
  const kubectl = { image: 'rancher/kubectl:v1.30.3' }
  return [
    ...(prepare === undefined ? [] : [built('prepare', prepare, plan)]),
    ...(drain !== undefined
      ? [built('drain', kubectl, plan)]
      : cordon === true
        ? [built('cordon', kubectl, plan)]
        : []),
  ]
}

function built(name: string, { image, command, args }: PlanContainer, { metadata, status }: UpgradePlan) {
  return {
    name,
    image,
    ...(command === undefined ? {} : { command: [...command] }),
    ...(args === undefined ? {} : { args: [...args] }),
    env: [
      { name: 'SYSTEM_UPGRADE_NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
      { name: 'SYSTEM_UPGRADE_PLAN_NAME', value: metadata.name },
      { name: 'SYSTEM_UPGRADE_PLAN_LATEST_VERSION', value: status?.latestVersion ?? '' },
    ],
  }
}
