import type { FencedCluster } from './snapshot.ts'

/** The manual override, for an administrator who knows that a machine has no power. */
export function overrideText({ namespace, name }: Pick<FencedCluster, 'namespace' | 'name'>): string {
  return `If its dead machines must be fenced before that: kubectl -n ${namespace} patch cephcluster ${name} --type merge -p '{"spec":{"disruptionManagement":{"manageMachineDisruptionBudgets":false}}}' allows all of them to be fenced.`
}
