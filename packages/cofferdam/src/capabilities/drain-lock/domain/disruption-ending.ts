/**
 * Why nothing more is to be evicted: what was wanted has happened, or nobody wants it any more. Undefined while the drain
 * goes on.
 */
export type DisruptionEnding = 'back' | 'gone' | 'given-back' | 'cancelled' | 'late' | 'edited'
