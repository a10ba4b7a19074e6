/** Where people write what they want of Cofferdam, for the clusters of a cluster file are made for its operator. */
export const skipDrainAnnotation = 'cofferdam.io/skip-drain'

/** On Longhorn's setting `node-drain-policy`. */
export const longhornAnnotations = {
  manage: 'cofferdam.io/manage',
  wantedPolicy: 'cofferdam.io/wanted-policy',
  rebootPolicy: 'cofferdam.io/reboot-policy',
  trigger: 'cofferdam.io/trigger',
  surplus: 'cofferdam.io/surplus',
} as const

/** On a Longhorn volume. */
export const drainPolicyLabel = 'cofferdam.io/node-drain-policy'
/** Parameter of a StorageClass. */
export const drainPolicyParameter = 'nodeDrainPolicy'

/** Rook's name for the budget of the machines under a Ceph cluster. Assumes: both names are short, as those of a cluster file are. */
export function machineBudgetName({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${name}-${namespace}`
}
