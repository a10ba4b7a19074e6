/** How much of a failure domain is down. */
export interface DownPart {
  readonly down: number
  readonly total: number
  readonly what: 'nodes' | 'OSDs'
}

/** A domain of which a part is down: that first, then what may be done with the rest. */
export function downPartText({ down, total, what }: DownPart, mayRestGo: boolean): string {
  return `Down (${down} of ${total} ${what}): its rest ${mayRestGo ? 'may go' : 'may not go now'}`
}
