/** Whether machines of the cluster may be fenced at this moment; a fence in the same failure domain is in nobody's way. */
export type FenceGateState = 'closed' | 'open' | 'fence under way'
