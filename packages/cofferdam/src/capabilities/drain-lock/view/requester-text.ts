import type { DisruptionAnswer } from './explain-disruption.ts'

/** Who asked for a drain: `ann@desk`, or a tool with its object, `kured (daemonset/kube-system/kured)`. */
export function requesterText({
  requester,
  askedBy,
}: Pick<DisruptionAnswer, 'requester' | 'askedBy'>): string | undefined {
  if (askedBy === undefined) return requester
  return requester === undefined ? askedBy : `${requester} (${askedBy})`
}
