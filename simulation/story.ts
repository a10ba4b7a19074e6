import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'

/** Tools of others that some clusters have, beside kured. */
export type Tool = 'node-maintenance' | 'machine-config'

/** The names that deeds choose from, all part of the cluster that the seed drew. */
export interface ClusterShape {
  /** As a cluster file says it. */
  readonly file: Readonly<Record<string, unknown>>
  readonly nodes: readonly string[]
  /** Budgets of applications, as names in the namespace `shop`. */
  readonly apps: readonly string[]
  readonly osds: readonly number[]
  /** The level over which Ceph spreads copies. */
  readonly domain: 'host' | 'zone'
  readonly volumes: readonly string[]
  readonly hasMachines: boolean
  readonly hasKured: boolean
  /** Clusters of the first seeds have none. */
  readonly tools?: readonly Tool[]
}

/** One thing that somebody does or that breaks, at a moment. Everything else about it is drawn from its own number. */
export interface Deed {
  readonly number: number
  readonly kind: string
  /** Since the operator has settled. */
  readonly atMs: number
}

/** What follows when all deeds are done. */
export interface StoryEnding {
  /** How long those who work may go on with it. */
  readonly calmMs: number
  /** In how many leaps the quiet day passes. */
  readonly leaps: number
}

/** All that a seed decides: without a deed it is another, shorter story. */
export interface Story {
  readonly seed: number
  readonly shape: ClusterShape
  readonly work: readonly Deed[]
  readonly faults: readonly Deed[]
  readonly ending: StoryEnding
}

export function oneOf<T>(random: Random, items: readonly T[]): T {
  return items[Math.min(items.length - 1, Math.floor(random.next() * items.length))] as T
}

/** A whole number from `least` on, and less than `most`. */
export function between(random: Random, least: number, most: number): number {
  return least + Math.floor(random.next() * (most - least))
}
