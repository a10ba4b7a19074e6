/** Whether machines of the cluster may be fenced now; a fence in the same failure domain is in nobody's way. */
export type FenceGateState = 'closed' | 'open' | 'fence under way'
