import type { LonghornReplica } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { LonghornState } from './longhorn-state.ts'

/** A state in a few lines, for people: what a decision can rest on. */
export function tellState(state: LonghornState): string {
  const budgets = new Map(
    state.budgets.map(({ metadata, spec }) => [metadata.name, spec.selector?.matchLabels?.['app']]),
  )
  return [
    ...state.settings.map(({ metadata, value }) => `${metadata.name} = ${JSON.stringify(value)}`),
    ...state.kubeNodes.map(({ metadata, spec, status }) =>
      words(
        `Kubernetes node ${metadata.name}`,
        [spec?.unschedulable === true, 'cordoned'],
        [spec?.taints !== undefined, 'tainted'],
        [status?.conditions?.[0]?.status !== 'True', `not ready since ${status?.conditions?.[0]?.lastTransitionTime}`],
      ),
    ),
    ...state.nodes.map(({ metadata, spec, status }) =>
      words(
        `Longhorn node ${metadata.name}`,
        [spec?.evictionRequested === true, 'a user empties it'],
        ...Object.entries(spec?.disks ?? {}).map(
          ([name, disk]) => [disk.evictionRequested === true, `a user empties ${name}`] as const,
        ),
        [status?.autoEvicting === true, 'auto evicting'],
        [status?.conditions?.[0]?.status !== 'True', status?.conditions?.[0]?.reason ?? ''],
      ),
    ),
    ...state.instanceManagers.map(({ metadata, status }) =>
      words(
        metadata.name,
        [true, status?.currentState ?? ''],
        [true, engines({ ...status?.instanceEngines, ...status?.instances })],
        [!budgets.has(metadata.name), 'no budget'],
        [budgets.get(metadata.name) !== undefined, "somebody else's budget"],
      ),
    ),
    ...state.replicas.map(tellReplica),
  ].join('\n')
}

function tellReplica({ metadata, spec, status }: LonghornReplica): string {
  return words(
    `${metadata.name} on ${spec?.diskID}`,
    [true, spec?.dataEngine ?? ''],
    [true, spec?.healthyAt === '' ? 'never whole' : 'whole'],
    [spec?.failedAt !== '', 'failed'],
    [true, `${spec?.desireState}/${status?.currentState} in ${JSON.stringify(status?.instanceManagerName)}`],
    [spec?.evictionRequested === true, 'to leave'],
    [spec?.active !== true, `inactive over ${spec?.dataDirectoryName}`],
    [metadata.deletionTimestamp !== undefined, 'being deleted'],
  )
}

function engines(running: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(running)
  return names.length === 0 ? 'no engines' : names.join(' ')
}

function words(subject: string, ...said: readonly (readonly [isSo: boolean, words: string])[]): string {
  return [subject, ...said.filter(([isSo]) => isSo).map(([, text]) => text)].join(', ')
}
