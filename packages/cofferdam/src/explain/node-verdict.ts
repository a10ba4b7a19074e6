import type { NodeExplanation, NodeState } from './explanation.ts'

/** A node in a word, as `explain node/NAME` judges it. */
export interface NodeVerdict {
  /** How far a drain of it is. */
  readonly drain: NodeState['drain']
  readonly mayGo: boolean
  readonly summary: string
  /** What holds it: the first of them, the others are counted. */
  readonly blocker?: HeldBy & { readonly explanation: string; readonly unblocks: string }
  readonly blockers?: number
  /** Pods that may not be evicted now, by `namespace/name`. */
  readonly held?: Readonly<Record<string, HeldBy>>
}

export interface HeldBy {
  /** `pdb/shop/orders` */
  readonly object: string
  readonly reason: string
  readonly holder: string
}

/** More pods than this are not marked one by one. */
const mostHeld = 40

export function nodeVerdict({ mayGo, summary, blockers, node, pods }: NodeExplanation): NodeVerdict {
  const [first] = blockers
  const held = pods
    .filter(({ verdict }) => verdict === 'waits')
    .slice(0, mostHeld)
    .flatMap(({ pod }): [string, HeldBy][] => {
      const by = blockers.find(({ waiting }) => waiting.includes(`pod/${pod}`)) ?? first
      return by === undefined ? [] : [[pod, { object: by.object, reason: by.reason, holder: by.holder }]]
    })
  return {
    drain: node.drain,
    mayGo,
    summary,
    ...(first === undefined
      ? {}
      : {
          blocker: {
            object: first.object,
            reason: first.reason,
            holder: first.holder,
            explanation: first.explanation,
            unblocks: first.unblocks,
          },
          blockers: blockers.length,
        }),
    ...(held.length === 0 ? {} : { held: Object.fromEntries(held) }),
  }
}
